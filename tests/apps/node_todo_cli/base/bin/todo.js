#!/usr/bin/env node
import { program } from 'commander';
import { add, read } from '../lib/list.js';

program.name('todo').description('A to-do list in a text file').version('1.0.0');

program
  .command('add <words...>')
  .description('add a to-do')
  .action((words) => console.log(`added ${add(words.join(' '))}`));

program
  .command('list')
  .description('show all')
  .action(() => read().forEach((line, at) => console.log(`${at + 1} ${line}`)));

program.parse();
