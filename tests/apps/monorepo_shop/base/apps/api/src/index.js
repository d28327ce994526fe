const { createApp } = require('./app');

const port = Number(process.env.API_PORT || process.env.PORT || 4100);
createApp().listen(port, '127.0.0.1', () => console.log(`api: http://127.0.0.1:${port}`));
