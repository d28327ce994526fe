import { createApp } from './app';
import { config } from './config';

createApp().listen(config.port, () => {
  console.log(`orders-service listening on ${config.port}`);
});
