import { Body, Controller, Get, Param, ParseIntPipe, Post, Query } from '@nestjs/common';
import { RoomsService, type Booking } from './rooms.service.js';

@Controller('rooms')
export class RoomsController {
  constructor(private readonly rooms: RoomsService) {}

  @Get()
  findAll() {
    return this.rooms.findAll();
  }

  @Get('free')
  free(@Query('from', ParseIntPipe) from: number, @Query('to', ParseIntPipe) to: number) {
    return this.rooms.free(from, to).map(({ id, name }) => ({ id, name }));
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
