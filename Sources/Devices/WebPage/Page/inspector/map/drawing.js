// A flow's drawing, as the gateway has laid it out. Everything in it is checked before something is drawn.

import { kindOf, shortened } from '../../elements/text.js'

const most = { cards: 2000, arrows: 10_000, frames: 500, points: 1000, rules: 100, lines: 200, types: 500 }
/** The largest coordinate in pixels. */
const farthest = 1_000_000

/**
 * The drawing, in which cards and arrows refer to each other. All names and words are printable, except those that the
 * gateway gets back: `screen`, `rules` and types.
 * @throws TypeError if the answer is malformed
 */
export function readDrawing(json) {
  const { width, height } = sizeOf(json)
  const cards = list(json.cards, most.cards).map((card, index) => ({
    ...boxOf(card), index, kind: text(card.kind), screen: card.screen == null ? null : text(card.screen),
    name: shortened(card.screen ?? card.title), title: card.screen == null ? '' : shortened(card.title),
    styles: list(card.styles, most.types).map(style => shortened(style, 40)),
    sends: list(card.sends, most.types).map(text), outgoing: [], incoming: [],
  }))
  const frames = list(json.frames, most.frames).map(frame => ({ ...boxOf(frame), flow: shortened(frame.flow, 60) }))
  const arrows = list(json.arrows, most.arrows).map((arrow, index) => {
    const [from, to] = [cards[arrow.from], cards[arrow.to]]
    if (!from || !to) throw new TypeError('an arrow has no card')
    const points = list(arrow.path, most.points).map(point => [number(point?.[0]), number(point?.[1])])
    if (points.length < 4 || points.length % 3 !== 1) throw new TypeError('a path is not a curve')
    const made = {
      index, from, to, points, label: boxOf(arrow.label), isLink: arrow.isLink === true, message: text(arrow.message),
      kind: kindOf(text(arrow.kind)), rules: list(arrow.rules, most.rules).map(text),
      words: list(arrow.words, 2).map(word => shortened(word, 40)),
      lines: list(arrow.lines, most.lines).map(line => shortened(line, 1000)),
    }
    from.outgoing.push(made)
    to.incoming.push(made)
    return made
  })
  const [note, name] = [shortened(json.note, 300), shortened(json.name)]
  return { platform: text(json.platform), name, hash: json.hash, note, width, height, cards, frames, arrows }
}

/** The arrow for a change: of those that have its rule, the one that fits its screens best. */
export function arrowOf({ arrows }, { rule, from, to }) {
  const fit = arrow => 2 * (arrow.to.screen === to) + (arrow.from.screen === from)
  return arrows.filter(arrow => arrow.rules.includes(rule))
    .reduce((best, arrow) => best && fit(best) >= fit(arrow) ? best : arrow, undefined)
}

function list(value, limit) {
  if (!Array.isArray(value) || value.length > limit) throw new TypeError('not a list, or too long')
  return value
}

function text(value) {
  if (typeof value !== 'string') throw new TypeError('not a text')
  return value
}

function number(value) {
  if (!Number.isFinite(value) || Math.abs(value) > farthest) throw new TypeError('not a coordinate')
  return value
}

function sizeOf(value) {
  const [width, height] = [number(value?.width), number(value?.height)]
  if (width < 0 || height < 0) throw new TypeError('not a size')
  return { width, height }
}

function boxOf(value) { return { ...sizeOf(value), x: number(value.x), y: number(value.y) } }
