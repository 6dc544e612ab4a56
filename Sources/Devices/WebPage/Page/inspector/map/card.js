// Cards: the screens of a flow, with a small picture of what is on them.

import { svg } from '../../elements/dom.js'
import { plural } from '../../elements/text.js'

const inset = 10
const corner = 10
const skeletons = {
  start: [0.5], screen: [0.9, 0.6, 0.75], presented: [0.7, 0.5], unreached: [0.9, 0.6, 0.75], somewhere: [],
}

/** @param preview the lines of the screen and its primary button, if the page has seen them */
export function makeCard(card, preview) {
  const { x, y, width, height, kind, name, title, styles } = card, style = styles[0]
  const element = svg('g', {
    class: 'card', role: 'button', tabindex: -1, transform: `translate(${round(x)} ${round(y)})`,
    'data-screen': card.screen ?? '', 'data-kind': kind, 'data-here': '',
  })
  element.item = card
  const middle = width / 2
  if (kind === 'somewhere') {
    element.append(svg('rect', { class: 'body', width, height, rx: height / 2 }),
      fitted('name', name, middle, height / 2 + 4, width - 2 * inset, 12))
    return element
  }
  const rx = { fullScreen: 3, alert: 20, window: 6 }[style] ?? corner
  if (kind === 'presented') element.append(svg('rect', { class: 'shade', y: 5, width, height, rx }))
  element.append(svg('rect', { class: 'body', width, height, rx }),
    fitted('name', name, middle, 22, width - 2 * inset, 13))
  const second = title || styles.join(', '), d = shape(card)
  if (second) element.append(fitted('screen-title', second, middle, 37, width - 2 * inset, 12))
  if (d) element.append(svg('path', { class: 'shape', d }))
  drawPreview(element, card, preview)
  return element
}

export function drawPreview(element, { kind, width, height, styles }, preview) {
  if (kind === 'somewhere') return
  const { lines, hasPrimary } = preview ?? { lines: skeletons[kind] ?? skeletons.screen }
  const room = width - 2 * inset, shown = styles[0] === 'alert' ? 1 : hasPrimary ? 2 : 3
  const parts = { bars: lines.slice(0, shown).map((part, index) =>
    `M${inset + 3} ${51 + 11 * index}h${Math.round(Math.max(part, 0.15) * room * 0.75)}`).join(''),
  primary: hasPrimary && shown > 1 ? `M${inset + 4} ${height - 12}h${room - 8}` : '' }
  for (const [name, d] of Object.entries(parts)) {
    const path = element.querySelector(`.${name}`)
    if (path) path.setAttribute('d', d)
    else if (d) element.append(svg('path', { class: name, d }))
  }
}

/** What distinguishes the start and the presentation styles from other screens. */
function shape({ kind, width, height, styles }) {
  if (kind === 'start') return `M-14 ${height / 2 - 5}l9 5l-9 5z`
  const middle = width / 2
  return {
    sheet: `M${middle - 12} 6h24`, popover: `M-1 ${height / 2 - 8}l-8 8l8 8`, window: 'M9 7h.1M16 7h.1M23 7h.1',
    alert: `M0 ${height - 26}h${width}M${middle} ${height - 26}v26`,
    fullScreen: `M8 14v-6h6M${width - 8} 14v-6h-6`,
  }[styles[0]] ?? ''
}

/** The name for screen readers. @param here `front`, `shown` or empty */
export function spokenCard({ name, title, styles, kind, outgoing }, here, sessions) {
  return [name, title, ...styles, kind === 'start' && 'the start', kind === 'unreached' && 'no rule leads here',
    { front: 'in front', shown: 'shown' }[here], sessions > 1 && `in ${sessions} sessions`,
    outgoing.length ? `${plural(outgoing.length, 'arrow')} ${outgoing.length === 1 ? 'leads' : 'lead'} on`
      : 'no arrow leads on'].filter(Boolean).join(', ')
}

// MARK: Texts

const pen = document.createElement('canvas').getContext('2d')
const family = getComputedStyle(document.documentElement).getPropertyValue('--font')
const widths = new Map()

/** A text that is cut to fit; a slightly longer one is set closer. */
function fitted(className, text, x, y, room, size) {
  const font = `${className === 'name' ? 600 : 400} ${size}px ${family}`
  const element = svg('text', { class: className, x, y })
  // Short texts fit in any font.
  const length = text.length > 9 ? textWidth(text.slice(0, 60), font) : 0
  if (length > room && length <= 1.15 * room) {
    element.setAttribute('textLength', room)
    element.setAttribute('lengthAdjust', 'spacingAndGlyphs')
  }
  element.textContent = length <= 1.15 * room ? text : cut(text, font, room)
  return element
}

function cut(text, font, room) {
  const characters = [...text.slice(0, 60)]
  let count = Math.min(characters.length, Math.floor(characters.length * room / textWidth(text.slice(0, 60), font)))
  while (count > 1 && textWidth(characters.slice(0, count).join('') + '…', font) > room) count -= 1
  return characters.slice(0, count).join('').trimEnd() + '…'
}

function textWidth(text, font) {
  const key = `${font} ${text}`
  let width = widths.get(key)
  if (width !== undefined) return width
  if (pen.font !== font) pen.font = font
  width = pen.measureText(text).width
  if (widths.size > 5000) widths.clear()
  widths.set(key, width)
  return width
}

export function round(value) { return Math.round(value * 10) / 10 }
