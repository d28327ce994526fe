#!/usr/bin/env node
import { program } from 'commander';
import { add, done, read } from '../lib/list.js';

program.name('todo').description('A to-do list in a text file').version('1.0.0');

program
  .command('add <words...>')
  .description('add a to-do')
  .action((words) => console.log(`added ${add(words.join(' '))}`));

program
  .command('list')
  .description('show all')
  .action(() => read().forEach((line, at) => console.log(`${at + 1} ${line}`)));

program
  .command('done <number>')
  .description('take a to-do off the list')
  .action((number) => {
    const line = done(Number(number));
    if (line === undefined) program.error(`there is no to-do ${number}`, { exitCode: 2 });
    console.log(`done: ${line}`);
  });

program.parse();
