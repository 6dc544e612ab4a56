// A flow's drawing from the gateway. Everything in it is checked before something is drawn.

import { kindOf, nameOf, shortened } from '../../elements/text.js'

const longest = 10_000
/** Pixels. */
const farthest = 1_000_000

/**
 * Cards and arrows refer to each other. Its texts are printable, except screens, rules and types, which the gateway
 * gets back. Throws a `TypeError` if the answer is malformed.
 */
export function readDrawing(json) {
  const cards = list(json.cards, 2000).map((card, index) => ({
    ...boxOf(card), index, kind: text(card.kind), screen: card.screen == null ? null : text(card.screen),
    name: shortened(card.screen ?? card.title), title: card.screen == null ? '' : shortened(card.title),
    styles: list(card.styles).map(style => shortened(style, 40)), sends: list(card.sends).map(text),
    outgoing: [], incoming: [],
  }))
  const frames = list(json.frames).map(frame => ({ ...boxOf(frame), flow: shortened(frame.flow, 60) }))
  const arrows = list(json.arrows).map((arrow, index) => {
    const [from, to] = [cards[arrow.from], cards[arrow.to]]
    const points = list(arrow.path).map(([x, y]) => [number(x), number(y)])
    if (!from || !to || points.length < 4 || points.length % 3 !== 1) throw new TypeError('not an arrow')
    const made = {
      index, from, to, points, label: boxOf(arrow.label), isLink: arrow.isLink === true, message: text(arrow.message),
      kind: kindOf(text(arrow.kind)), rules: list(arrow.rules).map(text),
      places: new Set(list(arrow.places).map(text)),
      words: list(arrow.words, 2).map(word => shortened(word, 40)),
      lines: list(arrow.lines).map(line => shortened(line, 1000)),
    }
    made.name = made.isLink ? `Link ${made.lines[0]}`
      : kindOf(made.message) === 'user' ? made.words[0] : shortened(nameOf(made.message))
    from.outgoing.push(made)
    to.incoming.push(made)
    return made
  })
  return {
    ...boxOf({ ...json, x: 0, y: 0 }), platform: text(json.platform), name: shortened(json.name),
    hash: text(json.hash), note: shortened(json.note, 300), cards, frames, arrows,
  }
}

/** Of the arrows that have the rule, the one that fits the screens best. */
export function arrowOf({ arrows }, { rule, from, to }) {
  const fit = arrow => 2 * (arrow.to.screen === to) + (arrow.from.screen === from)
  return arrows.filter(arrow => arrow.rules.includes(rule)).toSorted((one, other) => fit(other) - fit(one))[0]
}

function list(value, limit = longest) {
  if (!Array.isArray(value) || value.length > limit) throw new TypeError('not a list, or too long')
  return value
}

function text(value) {
  if (typeof value !== 'string') throw new TypeError('not a text')
  return value
}

function number(value, least = -farthest) {
  if (!Number.isFinite(value) || value < least || value > farthest) throw new TypeError('not a length')
  return value
}

function boxOf({ x, y, width, height }) {
  return { x: number(x), y: number(y), width: number(width, 0), height: number(height, 0) }
}
