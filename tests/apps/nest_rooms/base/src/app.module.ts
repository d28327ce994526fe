import { Module } from '@nestjs/common';
import { AppController } from './app.controller.js';
import { RoomsController } from './rooms/rooms.controller.js';
import { RoomsService } from './rooms/rooms.service.js';

@Module({
  controllers: [AppController, RoomsController],
  providers: [RoomsService],
})
export class AppModule {}
