import { ConflictException, Injectable, NotFoundException } from '@nestjs/common';

export interface Booking {
  from: number;
  to: number;
  by: string;
}

export interface Room {
  id: number;
  name: string;
  bookings: Booking[];
}

@Injectable()
export class RoomsService {
  private readonly rooms: Room[] = [
    { id: 1, name: 'Aquarium', bookings: [] },
    { id: 2, name: 'Attic', bookings: [] },
  ];

  findAll(): Room[] {
    return this.rooms;
  }

  findOne(id: number): Room {
    const room = this.rooms.find((one) => one.id === id);
    if (!room) throw new NotFoundException(`room ${id} does not exist`);
    return room;
  }

  book(id: number, booking: Booking): Room {
    const room = this.findOne(id);
    const clash = room.bookings.some((one) => booking.from < one.to && one.from < booking.to);
    if (clash) throw new ConflictException('the room is taken then');
    room.bookings.push(booking);
    return room;
  }
}
