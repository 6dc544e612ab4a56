// The cards of a flow: its screens, with a small picture of their content.

import { svg } from '../../elements/dom.js'
import { plural } from '../../elements/text.js'

const inset = 10
const skeletons = { start: [0.5], presented: [0.7, 0.5] }

export function makeCard(card, preview) {
  const { x, y, width, height, kind, name, title, styles } = card, style = styles[0], middle = width / 2
  const isScreen = kind !== 'somewhere'
  const element = svg('g', {
    class: 'card', role: 'button', tabindex: -1, transform: `translate(${round(x)} ${round(y)})`,
    'data-screen': card.screen ?? '', 'data-kind': kind, 'data-here': '',
  })
  element.item = card
  const rx = isScreen ? { fullScreen: 3, alert: 20, window: 6 }[style] ?? 10 : height / 2
  if (kind === 'presented') element.append(svg('rect', { class: 'shade', y: 5, width, height, rx }))
  element.append(svg('rect', { class: 'body', width, height, rx }),
    fitted('name', name, middle, isScreen ? 22 : height / 2 + 4, width - 2 * inset, 8))
  if (!isScreen) return element
  element.append(fitted('screen-title', title || styles.join(', '), middle, 37, width - 2 * inset, 6.8))
  const d = kind === 'start' ? `M-14 ${height / 2 - 5}l9 5l-9 5z` : {
    sheet: `M${middle - 12} 6h24`, popover: `M-1 ${height / 2 - 8}l-8 8l8 8`, window: 'M9 7h.1M16 7h.1M23 7h.1',
    alert: `M0 ${height - 26}h${width}M${middle} ${height - 26}v26`,
    fullScreen: `M8 14v-6h6M${width - 8} 14v-6h-6`,
  }[style]
  if (d) element.append(svg('path', { class: 'shape', d }))
  drawPreview(element, preview)
  return element
}

export function drawPreview(element, preview) {
  const { kind, width, height, styles } = element.item
  const { lines, hasPrimary } = preview ?? { lines: skeletons[kind] ?? [0.9, 0.6, 0.75] }
  const room = width - 2 * inset, count = styles[0] === 'alert' ? 1 : hasPrimary ? 2 : 3
  const bars = lines.slice(0, count).map((part, index) =>
    `M${inset + 3} ${51 + 11 * index}h${Math.round(Math.max(part, 0.15) * room * 0.75)}`).join('')
  const primary = hasPrimary && count > 1 ? `M${inset + 4} ${height - 12}h${room - 8}` : ''
  for (const [name, d] of Object.entries({ bars, primary })) {
    const path = element.querySelector(`.${name}`)
    if (path) path.setAttribute('d', d)
    else if (d) element.append(svg('path', { class: name, d }))
  }
}

/** For screen readers. `here` is `front`, `shown` or empty. */
export function spokenCard({ name, title, styles, kind, outgoing }, here, sessions) {
  return [name, title, ...styles, kind === 'start' && 'the start', kind === 'unreached' && 'no rule leads here',
    { front: 'in front', shown: 'shown' }[here], sessions > 1 && `in ${sessions} sessions`,
    `${plural(outgoing.length, 'arrow')} ${outgoing.length === 1 ? 'leads' : 'lead'} on`].filter(Boolean).join(', ')
}

/** A text that is a little too long is set closer, a longer one is cut. */
function fitted(className, text, x, y, room, glyph) {
  const fits = Math.round(room / glyph), isClose = text.length > fits && text.length <= 1.25 * fits
  const shown = text.length > fits && !isClose ? `${text.slice(0, fits - 1)}…` : text
  return svg('text', { class: className, x, y, ...isClose && { textLength: room, lengthAdjust: 'spacingAndGlyphs' } },
    shown)
}

export function round(value) { return Math.round(value * 10) / 10 }
