// perfetto.js - asks the trace processor of Perfetto's page, WebAssembly, about traces; without a browser or a network.
//
//   node perfetto.js FOLDER_OF_ENGINE TRACE SQL...      prints {"rows": [[...], ...], ...}, one list for each SQL
//
// The engine is a web worker that talks protobuf through a message port: TraceProcessorRpc, of which the few fields used
// here are written and read by hand.
// SPDX-License-Identifier: MIT
'use strict';
const fs = require('fs');
const path = require('path');

const METHOD = {append: 1, finish: 2, query: 3};
const FIELD = {
  stream: {message: 1},
  rpc: {sequence: 1, method: 2, appendData: 101, queryArgs: 103, appendResult: 201, finishResult: 202, queryResult: 203},
  queryArgs: {sql: 1},
  appendResult: {error: 2},
  queryResult: {column: 1, error: 2, batch: 3},
  batch: {cells: 1, integers: 2, doubles: 3, texts: 5, isLast: 6},
};
const CELL = {integer: 2, double: 3, text: 4};
const PIECE_BYTES = 8 << 20;

// ---- Protobuf --------------------------------------------------------------------------------------------------------

function writeVarint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
  bytes.push(value);
  return Buffer.from(bytes);
}

const writeNumber = (field, value) => Buffer.concat([writeVarint(field * 8), writeVarint(value)]);
const writeBytes = (field, bytes) => Buffer.concat([writeVarint(field * 8 + 2), writeVarint(bytes.length), bytes]);

// Reads one varint at `at`: [value as BigInt, next position]; undefined when it is not complete.
function readVarint(bytes, at) {
  let value = 0n;
  for (let shift = 0n; at < bytes.length; shift += 7n) {
    const byte = bytes[at++];
    value |= BigInt(byte & 127) << shift;
    if (byte < 128) return [BigInt.asIntN(64, value), at];
  }
  return undefined;
}

function readVarints(bytes) {
  const values = [];
  for (let at = 0, value; at < bytes.length; values.push(value)) [value, at] = readVarint(bytes, at);
  return values;
}

// All values of each field, by number: BigInt for varints, bytes for the rest.
function readMessage(bytes) {
  const fields = new Map();
  for (let at = 0; at < bytes.length;) {
    let key, value;
    [key, at] = readVarint(bytes, at);
    const kind = Number(key & 7n);
    if (kind === 0) {
      [value, at] = readVarint(bytes, at);
    } else {
      let length = kind === 1 ? 8n : 4n;
      if (kind === 2) [length, at] = readVarint(bytes, at);
      value = bytes.subarray(at, at + Number(length));
      at += Number(length);
    }
    const field = Number(key >> 3n);
    fields.set(field, [...(fields.get(field) || []), value]);
  }
  return fields;
}

// ---- The engine ------------------------------------------------------------------------------------------------------

class Engine {
  constructor(folder) {
    this.received = Buffer.alloc(0);
    this.answers = [];
    this.waiting = [];
    this.sequence = 0;
    this.port = {onmessage: null, postMessage: (data) => this.receive(Buffer.from(data))};
    this.worker = {location: {href: 'https://localhost/engine_bundle.js'}};
    class Request { // the worker loads its WebAssembly file by XMLHttpRequest
      open(method, url) {
        this.name = path.basename(url);
      }
      send() {
        const bytes = fs.readFileSync(path.join(folder, this.name));
        this.status = 200;
        this.response = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
      }
    }
    // What a web worker has, and not what node has.
    const globals = {
      self: this.worker, location: this.worker.location, XMLHttpRequest: Request, WorkerGlobalScope: class {},
      console: {log() {}, warn() {}, error() {}}, process: undefined, require: undefined, module: undefined, window: undefined,
      document: undefined,
    };
    const source = fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8');
    new Function(...Object.keys(globals), source)(...Object.values(globals));
  }

  async start() {
    await new Promise((resolve) => setTimeout(resolve, 0));
    this.worker.onmessage({data: this.port});
  }

  receive(data) {
    this.received = Buffer.concat([this.received, data]);
    for (;;) {
      const length = this.received.length > 1 ? readVarint(this.received, 1) : undefined;
      if (!length || this.received.length < length[1] + Number(length[0])) return;
      const end = length[1] + Number(length[0]);
      const message = this.received.subarray(length[1], end);
      this.received = this.received.subarray(end);
      const next = this.waiting.shift();
      if (next) next(message);
      else this.answers.push(message);
    }
  }

  answer() {
    if (this.answers.length) return Promise.resolve(this.answers.shift());
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  send(method, body = Buffer.alloc(0)) {
    const rpc = [writeNumber(FIELD.rpc.sequence, ++this.sequence), writeNumber(FIELD.rpc.method, method), body];
    this.port.onmessage({data: new Uint8Array(writeBytes(FIELD.stream.message, Buffer.concat(rpc)))});
    return this.answer();
  }

  async load(file) {
    const bytes = fs.readFileSync(file);
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const piece = bytes.subarray(at, at + PIECE_BYTES);
      this.check(await this.send(METHOD.append, writeBytes(FIELD.rpc.appendData, piece)), FIELD.rpc.appendResult);
    }
    this.check(await this.send(METHOD.finish), FIELD.rpc.finishResult);
  }

  check(answer, field) {
    for (const result of readMessage(answer).get(field) || []) {
      const errors = (readMessage(result).get(FIELD.appendResult.error) || []).filter((value) => value.length);
      if (errors.length) throw new Error(Buffer.from(errors[0]).toString());
    }
  }

  async query(sql) {
    const rows = [];
    let columns = 0;
    let answer = await this.send(METHOD.query, writeBytes(FIELD.rpc.queryArgs, writeBytes(FIELD.queryArgs.sql, Buffer.from(sql))));
    for (let isLast = false; !isLast; answer = isLast ? null : await this.answer()) {
      for (const bytes of readMessage(answer).get(FIELD.rpc.queryResult) || []) {
        const result = readMessage(bytes);
        const errors = (result.get(FIELD.queryResult.error) || []).filter((value) => value.length);
        if (errors.length) throw new Error(Buffer.from(errors[0]).toString());
        columns = columns || (result.get(FIELD.queryResult.column) || []).length;
        for (const batch of result.get(FIELD.queryResult.batch) || []) isLast = readBatch(readMessage(batch), columns, rows) || isLast;
      }
    }
    return rows;
  }
}

// Cells come by kind; appends rows and tells whether this is the last batch.
function readBatch(batch, columns, rows) {
  const all = (field) => Buffer.concat((batch.get(field) || []).map((part) => Buffer.from(part)));
  const integers = readVarints(all(FIELD.batch.integers)).map(Number);
  const doubles = all(FIELD.batch.doubles);
  const texts = all(FIELD.batch.texts).toString().split('\0');
  let row = [];
  let doublesRead = 0;
  for (const cell of readVarints(all(FIELD.batch.cells)).map(Number)) {
    if (cell === CELL.integer) row.push(integers.shift());
    else if (cell === CELL.double) row.push(doubles.readDoubleLE(8 * doublesRead++));
    else if (cell === CELL.text) row.push(texts.shift());
    else row.push(null);
    if (row.length === columns) {
      rows.push(row);
      row = [];
    }
  }
  return (batch.get(FIELD.batch.isLast) || [0n])[0] !== 0n;
}

async function main([folder, trace, ...queries]) {
  const engine = new Engine(folder);
  await engine.start();
  await engine.load(trace);
  const results = [];
  for (const sql of queries) results.push(await engine.query(sql));
  console.log(JSON.stringify(results));
}

main(process.argv.slice(2)).then(() => process.exit(0), (error) => {
  console.error(String(error.stack || error));
  process.exit(1);
});
