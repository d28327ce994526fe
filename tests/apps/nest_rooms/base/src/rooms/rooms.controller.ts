import { Body, Controller, Get, Param, ParseIntPipe, Post } from '@nestjs/common';
import { RoomsService, type Booking } from './rooms.service.js';

@Controller('rooms')
export class RoomsController {
  constructor(private readonly rooms: RoomsService) {}

  @Get()
  findAll() {
    return this.rooms.findAll();
  }

  @Get(':id')
  findOne(@Param('id', ParseIntPipe) id: number) {
    return this.rooms.findOne(id);
  }

  @Post(':id/bookings')
  book(@Param('id', ParseIntPipe) id: number, @Body() booking: Booking) {
    return this.rooms.book(id, booking);
  }
}
