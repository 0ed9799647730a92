// What runs on the device: turns one value into one report. The twin of the folder it lies in: from the same random bytes, the same
// message to the byte.
//
// A module without dependencies, for browsers and for node (there: name it device.mjs, or say "type": "module"):
//
//     import { Client } from "./device.js";
//     const client = Client.read(published);                        // the text of protocol.publish()
//     const message = client.randomize("blue", n => crypto.getRandomValues(new Uint8Array(n)));
//
// Randomness comes from the function that is given, and from nowhere else: a count of bytes to a Uint8Array of so many.
// All chances are whole numbers over 2^53, compared as whole numbers, so that every coin is exactly as likely as stated.
// A new kind of recipe is one more line in KINDS: (recipe, place, coins) => [number, bits], both BigInt.

export const FORMAT = 1;
export const MEMORY_FORMAT = 1;
const BITS = 53;
const HEAD = 5;

const ones = count => (1n << BigInt(count)) - 1n;
const bitLength = number => (number === 0n ? 0 : number.toString(2).length);
const hex = octets => [...octets].map(octet => octet.toString(16).padStart(2, "0")).join("");
const numberSize = cells => (bitLength(BigInt(cells) - 1n) + 7) >> 3;

/** Coins made of random bytes, taken in the same order as the Python twin takes them. */
export class OctetCoins {
  constructor(octets) {
    if (typeof octets !== "function") throw new TypeError("octets must be a function: a count to so many random bytes");
    this.octets = octets;
  }

  /** So many random bytes as a whole number, little end first. */
  draw(size) {
    const drawn = this.octets(size);
    if (!(drawn instanceof Uint8Array) || drawn.length !== size) {
      throw new TypeError("octets must give a Uint8Array of as many bytes as it is asked for");
    }
    let text = "";
    for (let place = size - 1; place >= 0; place--) text += drawn[place].toString(16).padStart(2, "0");
    return BigInt("0x0" + text);
  }

  /** True with probability weight / 2^53. */
  chance(weight) {
    return this.draw(7) >> 3n < BigInt(weight);
  }

  /** A uniform whole number in 0 … bound − 1: bits are drawn until they are below the bound. */
  below(bound) {
    const limit = BigInt(bound);
    const width = bitLength(limit - 1n);
    const size = (width + 7) >> 3;
    for (;;) {
      const drawn = this.draw(size) >> BigInt(size * 8 - width);
      if (drawn < limit) return drawn;
    }
  }

  /** Independent coins, each true with probability weight / 2^53, as the bits of a whole number. */
  many(count, weight) {
    const size = (count + 7) >> 3;
    const chance = BigInt(weight);
    let heads = 0n;
    let open = ones(count);
    for (let plane = BITS - 1; plane >= 0; plane--) {
      if (open === 0n || (chance & ones(plane + 1)) === 0n) break;
      const drawn = this.draw(size);
      if ((chance >> BigInt(plane)) & 1n) {
        heads |= open & ~drawn;
        open &= drawn;
      } else {
        open &= ~drawn;
      }
    }
    return heads;
  }
}

function response(recipe, place, coins) {
  return [coins.chance(recipe.truth) ? BigInt(place) : coins.below(recipe.cells), 0n];
}

function bits(recipe, place, coins) {
  const own = 1n << BigInt(place);
  const drawn = coins.many(recipe.bits, recipe.lie) & ~own;
  return [0n, coins.chance(recipe.truth) ? drawn | own : drawn];
}

/** Sums and products of a finite field of a prime power, row by row; the same tables as the Python twin makes. */
function fieldTables(prime, polynomial) {
  let order = 1;
  while (order * prime <= polynomial) order *= prime;
  const places = [];
  for (let place = 1; place < order; place *= prime) places.push(place);
  const digits = rule => places.reduce((total, place) => total + (rule(place) % prime) * place, 0);
  const plus = (one, two) => digits(place => Math.floor(one / place) + Math.floor(two / place));
  const scaled = (one, by) => digits(place => Math.floor(one / place) * by);
  const minus = scaled(polynomial % order, prime - 1);
  const sums = [];
  const products = [];
  for (let left = 0; left < order; left++) {
    const row = [0];
    for (let right = 1; right < order; right++) {
      const moved = row[Math.floor(right / prime)] * prime;
      const folded = plus(moved % order, scaled(minus, Math.floor(moved / order)));
      row.push(plus(folded, scaled(left, right % prime)));
    }
    products.push(...row);
    for (let right = 0; right < order; right++) sums.push(plus(left, right));
  }
  return [sums, products];
}

/** The inner product of two rows of digits over the field of a recipe. */
function inner(recipe, left, right) {
  const order = BigInt(recipe.order);
  const [sums, products] = recipe.order === recipe.prime ? [] : fieldTables(recipe.prime, recipe.polynomial);
  let total = 0n;
  for (; right > 0n; left /= order, right /= order) {
    const [one, two] = [left % order, right % order];
    total = sums ? BigInt(sums[Number(total * order) + products[Number(one * order + two)]]) : total + one * two;
  }
  return total % order;
}

/** The code of a value, whose digits are a 1 and any lower ones. */
function point(order, place) {
  let block = 1n;
  for (; place >= block; block *= order) place -= block;
  return place + block;
}

function hashed(recipe, place, coins) {
  const order = BigInt(recipe.order);
  const seed = coins.below(BigInt(recipe.cells) / order);
  const told = coins.chance(recipe.truth);
  return [seed * order + (told ? inner(recipe, seed, point(order, BigInt(place))) : coins.below(order)), 0n];
}

function oneOf(recipe, values, coins) {
  let drawn = coins.below(recipe.weights.reduce((total, weight) => total + weight, 0));
  let first = 0n;
  for (let at = 0; at < recipe.parts.length; at++) {
    const weight = BigInt(recipe.weights[at]);
    if (drawn < weight) {
      const [number, bits] = draw(recipe.parts[at], values[at], coins);
      return [first + number, bits];
    }
    drawn -= weight;
    first += BigInt(recipe.parts[at].cells);
  }
  throw new Error("the number drawn is below the sum of the weights");
}

function twice(recipe, place, coins) {
  return draw(recipe.instant, draw(recipe.permanent, place, coins), coins);
}

/** The same, with the permanent report of the first time. */
function twiceRemembered(recipe, place, coins, memory) {
  return draw(recipe.instant, permanent(recipe.permanent, place, coins, memory), coins);
}

function permanent(recipe, place, coins, memory) {
  if (recipe.kind !== "settled") return memory.report(recipe, place, () => draw(recipe, place, coins));
  const own = recipe.of;
  const choice = memory.number("choice", BigInt(recipe.choices), () => coins.below(recipe.choices));
  const seen = VIEWS.get(recipe.view)(recipe, choice, place);
  const [number, bits] = memory.report(own, seen, () => draw(own, seen, coins));
  return [choice * BigInt(own.cells) + number, bits];
}

function settled(recipe, place, coins) {
  const choice = coins.below(recipe.choices);
  const [number, bits] = draw(recipe.of, VIEWS.get(recipe.view)(recipe, choice, place), coins);
  return [choice * BigInt(recipe.of.cells) + number, bits];
}

function hashedView(recipe, choice, place) {
  return inner(recipe, choice, point(BigInt(recipe.order), BigInt(place)));
}

function windowView(recipe, choice, place) {
  const around = BigInt(recipe.choices);
  const off = (((BigInt(place) - choice) % around) + around) % around;
  return [0n, off < BigInt(recipe.of.bits) ? 1n << off : 0n];
}

function filterView(recipe, choice, text) {
  let filled = 0n;
  const first = Number(choice) * recipe.hashes;
  for (let row = first; row < first + recipe.hashes; row++) {
    filled |= 1n << BigInt(textBucket(recipe.key, row, text, recipe.of.bits));
  }
  return [0n, filled];
}

/** What is left of a value under a public choice that a device has made once. */
const VIEWS = new Map([
  ["hashed", hashedView],
  ["window", windowView],
  ["filter", filterView],
]);

function sameAgain(recipe, [number, bits]) {
  return [BigInt(number), BigInt(bits)];
}

function bitsAgain(recipe, [number, bits], coins) {
  const kept = coins.many(recipe.bits, recipe.truth) & BigInt(bits);
  return [BigInt(number), kept | (coins.many(recipe.bits, recipe.lie) & ~BigInt(bits))];
}

function numberAgain(recipe, [number, bits], coins) {
  const kept = coins.chance(recipe.truth);
  const old = BigInt(number);
  return [kept ? old : old - (old % BigInt(recipe.options)) + coins.below(recipe.options), BigInt(bits)];
}

function inTurn(recipe, [step, own], coins) {
  const [number, bits] = draw(recipe.of, own, coins);
  return [BigInt(step % recipe.turns) * BigInt(recipe.of.cells) + number, bits];
}

function inTurnRemembered(recipe, value, coins, memory) {
  const step = value[0];
  const turn = memory.number("turn", BigInt(recipe.turns), () => coins.below(recipe.turns));
  if (BigInt(step % recipe.turns) !== turn) return null;
  const last = memory.recall("step");
  if (last !== undefined && Number(last) > step) {
    throw new RangeError("steps go forward: the device has reported in a later one already");
  }
  if (last !== String(step)) {
    const [number, bits] = inTurn(recipe, value, coins);
    memory.keep("step", String(step));
    memory.keep("sent", `${number} ${bits}`);
  }
  return memory.reportOf(recipe, "sent");
}

function tracked(recipe, history, coins) {
  const level = coins.below(recipe.cells);
  const kept = coins.below(recipe.changes);
  return [level, signsOf(recipe, history, coins, level, kept, 0, 0n)];
}

function trackedRemembered(recipe, value, coins, memory) {
  const level = memory.number("level", BigInt(recipe.cells), () => coins.below(recipe.cells));
  const kept = memory.number("kept", BigInt(recipe.changes), () => coins.below(recipe.changes));
  const past = memory.recall("history") ?? "";
  const history = value.join("");
  if (!history.startsWith(past)) {
    throw new RangeError("the history must go on from the one that was reported: what was reported cannot change");
  }
  const drawn = past ? memory.reportOf(recipe, "signs")[1] : 0n;
  const all = signsOf(recipe, value, coins, level, kept, past.length >> Number(level), drawn);
  memory.keep("history", history);
  memory.keep("signs", `${level} ${all}`);
  return [level, all];
}

/** Adds signs of the stretches that have ended, from one on, to those that were drawn. */
function signsOf(recipe, history, coins, level, kept, start, drawn) {
  const shift = Number(level);
  const changes = [...history.keys()].filter(step => history[step] !== (step ? history[step - 1] : 0));
  const change = kept < BigInt(changes.length) ? changes[Number(kept)] : undefined;
  for (let stretch = start; stretch < history.length >> shift; stretch++) {
    const here = change !== undefined && change >> shift === stretch;
    const up = here ? coins.chance(recipe.truth) === (history[change] === 1) : coins.below(2) === 1n;
    if (up) drawn |= 1n << BigInt(stretch);
  }
  return drawn;
}

/** How a report is drawn on a device with a memory, by the kind of recipe; null where there is nothing to send now. */
export const REMEMBERING = new Map([
  ["twice", twiceRemembered],
  ["in turn", inTurnRemembered],
  ["tracked", trackedRemembered],
]);

/** What a device has drawn once and keeps for one protocol. Its text is as private as the values, and stays on the device. */
export class Memory {
  /** `save`, if given, gets the text whenever something was drawn, before the report leaves. */
  constructor(save) {
    this.owner = "";
    this.kept = {};
    this.give = save;
    this.saved = true;
  }

  /** Reads what `text` gave; refuses what is not whole, rather than draw anything anew. */
  static read(text, save) {
    let stated;
    try {
      stated = JSON.parse(text);
    } catch {
      throw broken("it is no whole JSON text");
    }
    if (stated === null || typeof stated !== "object" || stated.memory !== MEMORY_FORMAT) {
      throw broken(`it is not of format ${MEMORY_FORMAT}`);
    }
    const { of: owner, kept } = stated;
    const texts = kept !== null && typeof kept === "object" && !Array.isArray(kept);
    if (typeof owner !== "string" || !texts || Object.values(kept).some(one => typeof one !== "string")) {
      throw broken("it does not hold what a memory holds");
    }
    if (stated.check !== memoryCheck(owner, kept)) throw broken("its content is not what was saved");
    const memory = new Memory(save);
    memory.owner = owner;
    memory.kept = { ...kept };
    return memory;
  }

  /** What to store: a JSON text, in ASCII. */
  get text() {
    const check = memoryCheck(this.owner, this.kept);
    return canonical({ memory: MEMORY_FORMAT, of: this.owner, kept: this.kept, check });
  }

  /** Makes sure that this is the memory of a recipe; a new one becomes that of the first it is used with. */
  open(recipe) {
    const owner = hex(tag(recipe.kind === "twice" ? recipe.permanent : recipe));
    if (this.owner && this.owner !== owner) {
      throw new RangeError(
        "this memory is that of another protocol: keep one for each, under the tag of what is remembered. A new one " +
          "draws new permanent reports, which cost the loss of a lifetime besides what the old ones cost",
      );
    }
    this.owner = owner;
  }

  save() {
    if (this.give !== undefined && !this.saved) this.give(this.text);
    this.saved = true;
  }

  recall(name) {
    return Object.hasOwn(this.kept, name) ? this.kept[name] : undefined;
  }

  keep(name, what) {
    if (this.recall(name) === what) return;
    this.kept[name] = what;
    this.saved = false;
  }

  /** The whole number below a bound that is kept under a name; made, and kept, the first time. */
  number(name, bound, make) {
    if (this.recall(name) === undefined) this.keep(name, String(make()));
    return wholeBelow(this.recall(name), bound);
  }

  /** The report of a recipe that is kept for an input of its randomizer; drawn, and kept, the first time. */
  report(recipe, given, make) {
    const name = canonical(given);
    if (this.recall(name) === undefined) this.keep(name, make().join(" "));
    return this.reportOf(recipe, name);
  }

  reportOf(recipe, name) {
    const [number, bits] = (this.recall(name) ?? "").split(" ");
    return [wholeBelow(number, BigInt(recipe.cells)), wholeBelow(bits, 1n << BigInt(recipe.bits))];
  }
}

const broken = why =>
  new RangeError(
    `this memory cannot be trusted (${why}). Restore it as it was saved. To begin anew means to draw new permanent ` +
      "reports, which costs the loss of a lifetime once more",
  );

function wholeBelow(text, bound) {
  if (!/^[0-9]+$/.test(text ?? "") || BigInt(text) >= bound) {
    throw broken("it holds what its protocol cannot have drawn");
  }
  return BigInt(text);
}

/** Some digits that change whenever anything else in a memory does. */
function memoryCheck(owner, kept) {
  return hex(sha256(new TextEncoder().encode(canonical([MEMORY_FORMAT, owner, kept])))).slice(0, 16);
}

/** A pair of a step of time and a value. */
function stepsReader(domain, recipe) {
  const inner = readerOf(domain["in steps"], recipe.of);
  return value => {
    if (!Array.isArray(value) || value.length !== 2 || !Number.isSafeInteger(value[0]) || value[0] < 0) {
      throw new RangeError("the value must be a pair: the step, a whole number from 0 on, and the value in it");
    }
    return [value[0], inner(value[1])];
  };
}

/** A list of 0 and 1, one for each step so far. */
function historyReader(domain) {
  const { longest } = domain.history;
  const bit = one => one === 0 || one === 1 || typeof one === "boolean";
  return value => {
    if (!Array.isArray(value) || value.length === 0 || value.length > longest || !value.every(bit)) {
      throw new RangeError(`the value must be a history: 1 to ${longest} of 0 and 1, one for each step so far`);
    }
    return value.map(Number);
  };
}

// Texts that nobody can list, prefixes, and sets.

/** A report of the bucket that a text falls into in a row; the cells of the rows follow each other. */
function inRow(recipe, row, text, coins) {
  const bucket = rowBucket(recipe.key, row, text, recipe.buckets);
  const [number, bits] = draw(recipe.part, bucket, coins);
  return [BigInt(row) * BigInt(recipe.part.cells) + number, bits];
}

function rows(recipe, text, coins) {
  return inRow(recipe, Number(coins.below(recipe.rows)), text, coins);
}

function prefixes(recipe, text, coins) {
  const row = Number(coins.below(recipe.rows * recipe.lengths.length));
  return inRow(recipe, row, prefixOf(text, recipe.lengths[Math.floor(row / recipe.rows)]), coins);
}

/** So many letters of a text, where a letter may be two units of it. */
function prefixOf(text, length) {
  return [...text].slice(0, length).join("");
}

function sign(recipe, place, coins) {
  const column = coins.below(BigInt(recipe.cells) >> 1n);
  let entry = 0;
  for (let shared = place & (Number(column) + 1); shared > 0; shared >>= 1) entry ^= shared & 1;
  return [2n * column + BigInt(coins.chance(recipe.truth) ? entry : 1 - entry), 0n];
}

function padded(recipe, places, coins) {
  const drawn = Number(coins.below(Math.max(places.length, recipe.most)));
  const one = drawn < places.length ? places[drawn] : recipe.items + drawn - places.length;
  return draw(recipe.part, one, coins);
}

const MASK = (1n << 64n) - 1n;
const STEP = 0x9e3779b97f4a7c15n;

/** A word of a public stream of 64-bit words (SplitMix64), without its last 11 bits. */
function mixedWord(key, place) {
  let word = (key + (place + 1n) * STEP) & MASK;
  word = ((word ^ (word >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
  word = ((word ^ (word >> 27n)) * 0x94d049bb133111ebn) & MASK;
  return Number((word ^ (word >> 31n)) >> 11n);
}

/** The public direction of a cell: normal numbers, two at a time from two words. */
function direction(key, cell, size) {
  const pairs = (size + 1) >> 1;
  const entries = [];
  for (let pair = 0; pair < pairs; pair++) {
    const at = 2n * (BigInt(cell) * BigInt(pairs) + BigInt(pair));
    const length = Math.sqrt(-2 * Math.log((mixedWord(key, at) + 1) / 2 ** BITS));
    const angle = 2 * Math.PI * (mixedWord(key, at + 1n) / 2 ** BITS);
    entries.push(length * Math.cos(angle), length * Math.sin(angle));
  }
  return entries.slice(0, size);
}

/** The numbers of the directions of a group that point most as the vector does. */
function nearest(recipe, vector, group) {
  const scores = [];
  for (let number = 0; number < recipe.directions; number++) {
    const own = direction(BigInt(recipe.key), group * recipe.directions + number, recipe.size);
    scores.push(own.reduce((total, entry, at) => total + entry * vector[at], 0));
  }
  const order = scores.map((_, number) => number);
  return order.sort((one, two) => scores[two] - scores[one] || one - two).slice(0, recipe.near);
}

/** A uniform group of directions, and one of its nearest with some chance, else one of the others. */
function directions(recipe, [vector, weight], coins) {
  const { directions: several, near } = recipe;
  const group = Number(coins.below(recipe.cells / several));
  const pointing = coins.chance(weight) ? vector : vector.map(entry => -entry);
  const chosen = nearest(recipe, pointing, group);
  let number;
  if (coins.chance(recipe.truth)) {
    number = chosen[Number(coins.below(near))];
  } else {
    const inside = new Set(chosen);
    const others = Array.from({ length: several }, (_, other) => other).filter(other => !inside.has(other));
    number = others[Number(coins.below(several - near))];
  }
  return [BigInt(group * several + number), 0n];
}

/** Reports as bits: for each a bit for each cell, if it has several, and then its bits in a place for each cell. */
function writtenOut(parts, reports) {
  let written = 0n;
  let first = 0n;
  parts.forEach((part, at) => {
    const [number, drawn] = reports[at];
    const [cells, width] = [BigInt(part.cells), BigInt(part.bits)];
    if (cells > 1n) {
      written |= 1n << (first + number);
      first += cells;
    }
    written |= drawn << (first + number * width);
    first += cells * width;
  });
  return written;
}

function allOf(recipe, values, coins) {
  return [0n, writtenOut(recipe.parts, recipe.parts.map((part, at) => draw(part, values[at], coins)))];
}

function oneTrue(recipe, values, coins) {
  const drawn = coins.below(recipe.weights.reduce((total, weight) => total + weight, 0));
  let before = 0n;
  const reports = recipe.parts.map((part, at) => {
    const after = before + BigInt(recipe.weights[at]);
    const asked = before <= drawn && drawn < after;
    before = after;
    return draw(part, asked ? values[at] : coins.below(recipe.options[at]), coins);
  });
  return [0n, writtenOut(recipe.parts, reports)];
}

function signs(recipe, place, coins) {
  const row = coins.below(BigInt(recipe.cells) >> 1n);
  const told = coins.chance(recipe.truth);
  const value = BigInt(place);
  let bit = value & 1n;
  for (let both = row & (value >> 1n); both > 0n; both >>= 1n) bit ^= both & 1n;
  return [2n * row + (told ? bit : coins.below(2)), 0n];
}

function pairs(recipe, listed, coins) {
  const drawn = Number(coins.below(Math.max(recipe.most, listed.length)));
  if (drawn >= listed.length) return draw(recipe.part, 2 * recipe.keys + drawn, coins);
  const [key, high] = listed[drawn];
  return draw(recipe.part, 2 * key + (coins.chance(high) ? 1 : 0), coins);
}

/** How many bits of a whole number are 1. */
const bitCount = word => word.toString(2).replaceAll("0", "").length;

/** The set bit that so many lower ones are set below. */
function setBit(word, rank) {
  const digits = word.toString(2);
  let left = Number(rank);
  for (let at = digits.length - 1; ; at--) {
    if (digits[at] === "1" && left-- === 0) return 1n << BigInt(digits.length - 1 - at);
  }
}

function subset(recipe, place, coins) {
  const own = 1n << BigInt(place);
  const others = ones(recipe.bits) ^ own;
  const told = coins.chance(recipe.truth);
  const wanted = recipe.ones - (told ? 1 : 0);
  const near = ((BigInt(recipe.ones) << 8n) / BigInt(recipe.bits)) << BigInt(BITS - 8);
  let drawn = coins.many(recipe.bits, near) & others;
  for (let count = bitCount(drawn); count !== wanted; count += count > wanted ? -1 : 1) {
    const open = count > wanted ? drawn : others ^ drawn;
    drawn ^= setBit(open, coins.below(bitCount(open)));
  }
  return [0n, told ? drawn | own : drawn];
}

/** The place of a point: `point` the other way round. */
function placeOf(order, code) {
  let place = 0n;
  let block = 1n;
  for (; code >= block * order; block *= order) place += block;
  return place + code - block;
}

/** A point whose entry at the place of the value is the inner product of its later ones with the value's code, or not. */
function plane(recipe, place, coins) {
  const order = BigInt(recipe.order);
  const cells = BigInt(recipe.cells);
  const code = point(order, BigInt(place));
  const inside = (cells - 1n) / order;
  const outside = cells - inside;
  let below = outside; // the weight of the entry at the place of the value
  for (let rest = code / order; rest > 0n; rest /= order) below /= order;
  let [later, low, more] = [0n, 0n, 0n];
  if (coins.chance(recipe.truth)) {
    const drawn = point(order, coins.below(inside));
    [later, low] = [drawn / below, drawn % below];
  } else {
    const drawn = coins.below(outside);
    const rest = drawn / below;
    low = drawn % below;
    [later, more] = rest > 0n ? [point(order, (rest - 1n) / (order - 1n)), ((rest - 1n) % (order - 1n)) + 1n] : [0n, 1n];
  }
  const first = inner(recipe, later, code);
  const sums = recipe.order === recipe.prime ? null : fieldTables(recipe.prime, recipe.polynomial)[0];
  const entry = sums ? BigInt(sums[Number(first * order + more)]) : (first + more) % order;
  return [placeOf(order, low + below * (entry + order * later)), 0n];
}

function hadamard(recipe, place, coins) {
  const code = point(2n, BigInt(place));
  const drawn = coins.below(recipe.cells);
  const odd = coins.chance(recipe.truth) ? 0 : 1;
  if (bitCount(drawn & code) % 2 === odd) return [drawn, 0n];
  return [drawn ^ (1n << BigInt(bitLength(code) - 1)), 0n];
}

/** How a report is drawn, by the kind of recipe. */
export const KINDS = new Map([
  ["response", response],
  ["bits", bits],
  ["hashed", hashed],
  ["one of", oneOf],
  ["twice", twice],
  ["settled", settled],
  ["same again", sameAgain],
  ["bits again", bitsAgain],
  ["number again", numberAgain],
  ["in turn", inTurn],
  ["tracked", tracked],
  ["rows", rows],
  ["prefixes", prefixes],
  ["sign", sign],
  ["padded", padded],
  ["directions", directions],
  ["all of", allOf],
  ["one true", oneTrue],
  ["signs", signs],
  ["pairs", pairs],
  ["subset", subset],
  ["plane", plane],
  ["hadamard", hadamard],
]);

/** Which entry of a recipe says how many values there are, for kinds where one does. */
const OPTIONS = new Map([
  ["response", "cells"],
  ["bits", "bits"],
  ["subset", "bits"],
]);

/** Draws one report: its whole number and its bits. */
export function draw(recipe, place, coins) {
  const randomizer = KINDS.get(recipe.kind);
  if (randomizer === undefined) {
    const known = [...KINDS.keys()].sort().join(", ");
    throw new RangeError(`this device knows recipes of the kinds ${known}, not ${JSON.stringify(recipe.kind)}`);
  }
  return randomizer(recipe, place, coins);
}

/** The five bytes that every message of a recipe begins with. */
export function tag(recipe) {
  const digest = sha256(new TextEncoder().encode(canonical(recipe)));
  const first = new Uint8Array(HEAD);
  first[0] = FORMAT;
  first.set(digest.subarray(0, HEAD - 1), 1);
  return first;
}

/** Randomizes one value, given by its place, and writes the report as a message. */
export function message(recipe, place, octets) {
  return packed(recipe, tag(recipe), draw(recipe, place, new OctetCoins(octets)));
}

function packed(recipe, head, [number, drawn]) {
  const first = numberSize(recipe.cells);
  const written = new Uint8Array(HEAD + first + ((recipe.bits + 7) >> 3));
  written.set(head);
  writeLittle(number, written.subarray(HEAD, HEAD + first));
  writeLittle(drawn, written.subarray(HEAD + first));
  return written;
}

function writeLittle(number, room) {
  if (number < 0n || bitLength(number) > room.length * 8) throw new RangeError("a report does not fit its recipe");
  const text = number.toString(16).padStart(room.length * 2, "0");
  for (let place = 0; place < room.length; place++) {
    const end = text.length - 2 * place;
    room[place] = parseInt(text.slice(end - 2, end), 16);
  }
}

/** Reads what a protocol has published, once, and randomizes values by it. */
export class Client {
  /** Reads the text of `protocol.publish()`; refuses what this file cannot follow to the letter. */
  static read(text) {
    const stated = JSON.parse(text);
    if (stated === null || typeof stated !== "object" || stated.format !== FORMAT) {
      throw new RangeError(`this device reads format ${FORMAT} of what a protocol publishes, and no other`);
    }
    const { recipe, domain } = stated;
    if (recipe === null || typeof recipe !== "object" || !KINDS.has(recipe.kind)) {
      const known = [...KINDS.keys()].sort().join(", ");
      throw new RangeError(`this device knows recipes of the kinds ${known}, not ${JSON.stringify(recipe?.kind)}`);
    }
    const head = tag(recipe);
    if (hex(head) !== stated.tag) {
      throw new RangeError("the tag is not that of the recipe: it was changed on its way, or misread");
    }
    return new Client(recipe, head, readerOf(domain, recipe));
  }

  constructor(recipe, head, reader) {
    this.recipe = recipe;
    this.head = head;
    this.reader = reader;
  }

  /**
   * The message of one value; a value that is not listed stands as `other`, or is refused where there is none.
   *
   * Protocols with a loss for a lifetime need the device's memory: without one, every report draws all anew and is
   * charged by itself. With one there may be nothing to send now: then the message is null.
   */
  randomize(value, octets, memory = undefined) {
    if (memory !== undefined) return this.#remembered(value, octets, memory);
    return packed(this.recipe, this.head, draw(this.recipe, this.reader(value), new OctetCoins(octets)));
  }

  #remembered(value, octets, memory) {
    const remembering = REMEMBERING.get(this.recipe.kind);
    if (remembering === undefined) {
      throw new RangeError("this protocol remembers nothing: leave memory out, and count each report by itself");
    }
    memory.open(this.recipe);
    const drawn = remembering(this.recipe, this.reader(value), new OctetCoins(octets), memory);
    memory.save();
    return drawn === null ? null : packed(this.recipe, this.head, drawn);
  }
}

/** How values are read, by the entry of a published domain that says of which form it is. */
export const DOMAINS = new Map([
  ["range", rangeReader],
  ["values", valuesReader],
  ["each", eachReader],
  ["texts", textsReader],
  ["in steps", stepsReader],
  ["history", historyReader],
  ["sets", setsReader],
  ["spelled", domain => spellingOf(domain.spelled)],
  ["prefix", prefixReader],
  ["vector", vectorReader],
  ["named", namedReader],
  ["joint", jointReader],
  ["levels", levelsReader],
  ["pairs", pairsReader],
]);

/** The reader of a published domain: a function of a value that gives what the randomizer takes, or refuses. */
export function readerOf(domain, recipe) {
  const forms = domain && typeof domain === "object" ? [...DOMAINS.keys()].filter(form => form in domain) : [];
  if (forms.length !== 1) {
    throw new RangeError("the protocol publishes no domain that this device knows: prepare its input and call message()");
  }
  return DOMAINS.get(forms[0])(domain, recipe);
}

function rangeReader(domain, recipe) {
  const [start, stop, step] = domain.range;
  const options = Math.max(0, Math.ceil((stop - start) / step));
  const find = value => {
    const place = Number.isSafeInteger(value) ? (value - start) / step : -1;
    return Number.isInteger(place) && place >= 0 && place < options ? place : undefined;
  };
  return listed(find, options, domain, recipe);
}

function valuesReader(domain, recipe) {
  const places = new Map(domain.values.map((value, place) => [value, place]));
  return listed(value => places.get(value), domain.values.length, domain, recipe);
}

/** A list with one value of each of several domains, for the parts of a recipe. */
function eachReader(domain, recipe) {
  const readers = domain.each.map((own, at) => readerOf(own, recipe.parts[at]));
  return value => {
    if (!Array.isArray(value) || value.length !== readers.length) {
      throw new RangeError(`the value must be a list of ${readers.length}: one for each part`);
    }
    return value.map((own, at) => readers[at](own));
  };
}

/** A mapping with all of the names, or a list in their order. */
function namedReader(domain, recipe) {
  const names = domain.named;
  const inner = readerOf(domain.of, recipe);
  return value => {
    if (value === null || typeof value !== "object" || Array.isArray(value)) return inner(value);
    if (Object.keys(value).length !== names.length || !names.every(name => Object.hasOwn(value, name))) {
      throw new RangeError(`the answers must be those to ${names.join(", ")}: one each, and no other`);
    }
    return inner(names.map(name => value[name]));
  };
}

/** A list of answers: for each table its cell, the first attribute slowest; or only whether the sum is odd. */
function jointReader(domain) {
  const readers = domain.joint.map(own => readerOf(own, { kind: "joint" }));
  const cell = (table, places) =>
    domain.parities
      ? table.reduce((total, one) => total + places[one], 0) % 2
      : table.reduce((total, one) => total * domain.sizes[one] + places[one], 0);
  return value => {
    if (!Array.isArray(value) || value.length !== readers.length) {
      throw new RangeError(`the value must be a list of ${readers.length}: one for each attribute`);
    }
    const places = readers.map((reader, at) => reader(value[at]));
    return domain.tables.map(table => cell(table, places));
  };
}

/** One of a list of values: for each level of a tree the node that it lies in, of so many values each. */
function levelsReader(domain) {
  const reader = readerOf(domain.of, { kind: "levels" });
  return value => domain.levels.map(width => Math.floor(reader(value) / width));
}

/** An object or a Map from keys to numbers between two bounds, or a list of pairs; no key twice. */
function pairsReader(domain, recipe) {
  const place = readerOf(domain.pairs, { kind: "keys" });
  const [low, high] = recipe.between.map(Number);
  const chance = number => {
    if (typeof number !== "number" || !(number >= low && number <= high)) {
      throw new RangeError(`each number must be between ${low} and ${high}: cut it to them if it may be outside`);
    }
    return Math.floor(((number - low) / (high - low)) * 2 ** BITS);
  };
  return value => {
    const whole = value !== null && typeof value === "object" && !Array.isArray(value);
    const listed = value instanceof Map ? [...value] : whole ? Object.entries(value) : value;
    if (!Array.isArray(listed) || !listed.every(one => Array.isArray(one) && one.length === 2)) {
      throw new RangeError("the value must be a mapping from keys to numbers, or a list of pairs of both");
    }
    const read = listed.map(([key, number]) => [place(key), chance(number)]);
    if (new Set(read.map(([key]) => key)).size < read.length) throw new RangeError("the value must have no key twice");
    return read;
  };
}

/** Any text of at most so many letters. */
function textsReader(domain) {
  const { longest } = domain.texts;
  return value => {
    if (typeof value !== "string" || value.length > longest) {
      throw new RangeError(`the value must be a text of at most ${longest} letters`);
    }
    return value;
  };
}

/** A list of different listed values; what is not listed is refused, or left out where the domain says so. */
function setsReader(domain, recipe) {
  const { values, range } = domain.sets;
  const options = values ? values.length : Math.max(0, Math.ceil((range[1] - range[0]) / range[2]));
  if (options !== recipe.items) {
    throw new RangeError("the list of values does not have the length that the recipe states");
  }
  const place = readerOf(domain.sets, recipe);
  const refusal = "the value must be a list of different values that the protocol lists";
  return value => {
    if (!Array.isArray(value) && !(value instanceof Set)) throw new RangeError(refusal);
    const places = [];
    for (const one of value) {
      try {
        places.push(place(one));
      } catch (error) {
        if (domain.unlisted !== "left out") throw error;
      }
    }
    if (new Set(places).size < places.length) throw new RangeError(refusal);
    return places.sort((one, two) => one - two);
  };
}

/** How values are spelled: whole numbers of so many bits by digits, words by their letters and an end. */
function spellingOf({ bits, alphabet, longest }) {
  if (bits !== undefined) {
    return value => {
      if (!Number.isSafeInteger(value) || value < 0 || BigInt(value) >> BigInt(bits) > 0n) {
        throw new RangeError(`the value must be a whole number of at most ${bits} bits`);
      }
      return value.toString(2).padStart(bits, "0");
    };
  }
  const letters = new Set(alphabet);
  return value => {
    const own = typeof value === "string" ? [...value] : null;
    if (own === null || own.length > longest || !own.every(letter => letters.has(letter))) {
      throw new RangeError(`the value must be a text of at most ${longest} letters of the alphabet`);
    }
    return value + "\n";
  };
}

/** The place of a value's prefix of some length in a list. */
function prefixReader(domain, recipe) {
  const { of, length, listed: among } = domain.prefix;
  const spell = spellingOf(of);
  const place = readerOf(among, recipe);
  return value => place(prefixOf(spell(value), length));
}

/** A list of so many finite numbers: the vector over its largest entry, and the weight with which it is not turned. */
function vectorReader(domain) {
  const { size, radius } = domain.vector;
  return value => {
    const good = Array.isArray(value) && value.length === size;
    if (!good || !value.every(entry => typeof entry === "number" && Math.abs(entry) <= 1e300)) {
      throw new RangeError(`the value must be a list of ${size} finite numbers`);
    }
    const largest = value.reduce((most, entry) => Math.max(most, Math.abs(entry)), 0);
    if (largest === 0) return [new Array(size).fill(0), 2 ** (BITS - 1)];
    const scaled = value.map(entry => entry / largest);
    const squares = scaled.reduce((total, entry) => total + entry * entry, 0);
    const share = Math.min(1, Math.sqrt(squares) * (largest / radius));
    return [scaled, Math.floor((1 + share) * 2 ** (BITS - 1))];
  };
}

/** The bucket, of a number that is a power of 2, into which function `row` of the family `key` puts a text. */
export function textBucket(key, row, text, buckets) {
  const low = new DataView(digest(key, row, text).buffer).getBigUint64(0, true);
  return Number(low & (BigInt(buckets) - 1n));
}

/** The bucket of a text in a row of a sketch; a digest holds those of 16 rows, two bytes for each. */
export function rowBucket(key, row, text, buckets) {
  const fields = new DataView(digest(key, Math.floor(row / 16), text).buffer);
  return fields.getUint16(2 * (row % 16), true) & (buckets - 1);
}

function digest(key, row, text) {
  return sha256(new TextEncoder().encode(canonical([key, row, text])));
}

/** The place of a value; that of `other` for what is not listed, or a refusal where there is none. */
function listed(find, options, domain, recipe) {
  const stated = OPTIONS.get(recipe.kind);
  if (stated !== undefined && recipe[stated] !== options) {
    throw new RangeError("the list of values does not have the length that the recipe states");
  }
  const rest = domain.other === null || domain.other === undefined ? undefined : find(domain.other);
  return value => {
    const place = find(value) ?? rest;
    if (place === undefined) throw new RangeError("the value must be one of those that the protocol lists");
    return place;
  };
}

/** The text that is hashed: sorted keys, no blanks, nothing but ASCII, as Python's json writes it. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number") {
    if (!Number.isInteger(value) || Math.abs(value) > 2 ** BITS) {
      throw new RangeError("a recipe holds texts and whole numbers up to 2^53");
    }
    return BigInt(value).toString();
  }
  if (typeof value === "string") {
    return JSON.stringify(value).replace(
      /[\u007f-\uffff]/g,
      letter => "\\u" + letter.charCodeAt(0).toString(16).padStart(4, "0"),
    );
  }
  const names = Object.keys(value).sort();
  return `{${names.map(name => `${canonical(name)}:${canonical(value[name])}`).join(",")}}`;
}

/** The first 32 bits behind the point of a root of a whole number: the constants of SHA-256 are of that form. */
function rootBits(prime, degree) {
  const power = BigInt(prime) << BigInt(32 * degree);
  let low = 0n;
  for (let step = 1n << 40n; step > 0n; step >>= 1n) {
    if ((low + step) ** BigInt(degree) <= power) low += step;
  }
  return Number(low & 0xffffffffn);
}

function primes(count) {
  const found = [];
  for (let tried = 2; found.length < count; tried++) if (found.every(prime => tried % prime)) found.push(tried);
  return found;
}

const ROUNDS = primes(64).map(prime => rootBits(prime, 3));
const BEGIN = primes(8).map(prime => rootBits(prime, 2));

/** SHA-256 (FIPS 180-4) of bytes. */
function sha256(octets) {
  const padded = new Uint8Array(((octets.length + 72) >> 6) << 6);
  padded.set(octets);
  padded[octets.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(octets.length / 2 ** 29));
  view.setUint32(padded.length - 4, (octets.length * 8) >>> 0);
  const turned = (word, by) => (word >>> by) | (word << (32 - by));
  const state = Uint32Array.from(BEGIN);
  const words = new Uint32Array(64);
  for (let block = 0; block < padded.length; block += 64) {
    for (let i = 0; i < 16; i++) words[i] = view.getUint32(block + 4 * i);
    for (let i = 16; i < 64; i++) {
      const [late, early] = [words[i - 2], words[i - 15]];
      const left = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3);
      const right = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10);
      words[i] = words[i - 16] + left + words[i - 7] + right;
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i++) {
      const chosen = (e & f) ^ (~e & g);
      const most = (a & b) ^ (a & c) ^ (b & c);
      const first = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + chosen + ROUNDS[i] + words[i]) | 0;
      const second = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + most) | 0;
      [a, b, c, d, e, f, g, h] = [(first + second) | 0, a, b, c, (d + first) | 0, e, f, g];
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] += word));
  }
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, i) => digest.setUint32(4 * i, word));
  return new Uint8Array(digest.buffer);
}
