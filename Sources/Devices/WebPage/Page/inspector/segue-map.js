import { decoded, go } from '../address.js'
import { previews } from '../device/previews.js'
import { button, fill, h, reconcile, setText } from '../elements/dom.js'
import { addStyles } from '../elements/styles.js'
import { shortened } from '../elements/text.js'
import { InspectorElement, smallButton } from './inspector-element.js'
import { MapDetail } from './map/detail.js'
import { MapFeed } from './map/feed.js'
import { MapFlow } from './map/flow.js'
import { LastStory } from './map/last-story.js'
import { readAddress } from './selection.js'

await addStyles('map/map', import.meta.url)

const all = '*'
/** Characters. */
const longestList = 8000

/** The flows as graphs. `address`: `#/map?session=anna`; `session=*` for all; `untaken=HASH,PLACE…` of that flow. */
class SegueMap extends InspectorElement {
  #asked = ''
  #ofDevices = 'default'
  #untaken = {}
  #flows = new Map()
  #chosen = ''
  #feed
  #detail
  #lastStory = new LastStory(words => { for (const { picture } of this.#flows.values()) picture?.showSlowest(words) })
  #host = h('div.map-flows')
  #line = h('p.map-line.late', { role: 'status' }, 'Asking the gateway…')
  #one = toggle('', () => go('#/map'))
  #all = toggle('All sessions', () => go(`#/map?session=${all}`))
  #counts = toggle('Counts', () => this.#showCounts(!isPressed(this.#counts)))
  #cover = smallButton('', () => go('#/map'), { title: 'Show the plain map' })
  #note = h('details.map-hint', { hidden: true }, h('summary', 'Simple layout'), h('p'))
  #platforms = h('div.map-platforms', { role: 'group', 'aria-label': 'Platform' })

  set address(address) {
    const { selection, untaken } = readAddress(address)
    this.#asked = selection.session ?? ''
    const [hash, ...places] = untaken?.length <= longestList ? untaken.split(',').map(decoded) : []
    this.#untaken = { hash, places: new Set(places) }
    this.#openSession()
  }

  set session(session) {
    this.#ofDevices = session
    this.#openSession()
  }

  get #session() { return this.#asked === all ? null : this.#asked || this.#ofDevices }

  build() {
    this.#feed = new MapFeed(this.connection, {
      flows: () => this.#drawFlows(),
      drawing: (platform, drawing) => this.#draw(platform, drawing),
      failure: (platform, line) => platform === null ? setText(this.#line, line) : this.#flows.get(platform)?.say(line),
      here: platforms => this.#drawHere(platforms),
      taken: () => this.#drawTaken(),
      moves: moves => { for (const move of moves) this.#flows.get(move.platform)?.picture?.move(move) },
      rows: (rows, isFirst) => {
        this.#lastStory.receive(rows)
        // After a break the gateway sends its rows again: only the last one is shown.
        const begun = isFirst ? [] : rows.filter(row => row.kind === 'origin').slice(-1)
        for (const { platform, actor } of begun) this.#flows.get(platform)?.picture?.pulse(actor)
      },
    })
    this.#detail = new MapDetail(this.#feed, (flow, item) => {
      flow.reveal(item)
      this.#detail.show(flow, item)
    })
    const zoom = (text, label, action) => smallButton(text, () => {
      for (const flow of this.#flows.values()) if (flow.element.checkVisibility()) action(flow)
    }, { 'aria-label': label, title: label })
    const close = button('✕', () => this.dispatchEvent(new CustomEvent('closemap', { bubbles: true })),
      { class: 'button plain small map-close', 'aria-label': 'Close the map', title: 'Close the map' })
    fill(this,
      h('div.map-head.wrapping', this.#one, this.#all, this.#platforms, this.#note, this.#cover, h('span.space'),
        this.#counts, zoom('−', 'Zoom out (-)', flow => flow.zoomBy(0.8)),
        zoom('+', 'Zoom in (+)', flow => flow.zoomBy(1.25)), zoom('Fit', 'Fit (0)', flow => flow.fit()), close),
      h('div.map-body', h('div.map-main', this.#host, this.#line), this.#lastStory.element, this.#detail.element))
    this.addEventListener('keydown', event => { if (event.key === 'Escape') this.#detail.close() })
    this.#drawSession()
  }

  start() {
    previews.addEventListener('change', this.#preview)
    this.#feed.open(this.#session)
  }

  stop() {
    previews.removeEventListener('change', this.#preview)
    this.#feed.close()
  }

  #preview = ({ platform, screen }) => this.#flows.get(platform)?.picture?.preview(screen)

  #openSession() {
    if (!this.#feed) return
    this.#drawSession()
    if (!this.isConnected || this.#session === this.#feed.session) return
    this.#lastStory.clear()
    this.#feed.open(this.#session)
  }

  #drawSession() {
    setText(this.#one, `Session ${shortened(this.#session ?? this.#ofDevices, 24)}`)
    press(this.#one, this.#session !== null)
    press(this.#all, this.#session === null)
    this.#drawTaken()
  }

  #drawFlows() {
    const platforms = this.#feed.flows.map(flow => flow.platform)
    for (const platform of this.#flows.keys()) {
      if (platforms.includes(platform)) continue
      this.#detail.drop(platform)
      this.#flows.delete(platform)
    }
    reconcile(this.#host, platforms, platform => platform, platform => {
      const flow = new MapFlow(platform, (flow, item) => this.#detail.show(flow, item))
      this.#flows.set(platform, flow)
      return flow.element
    })
    setText(this.#line, platforms.length ? '' : 'No flow is on the bus. It appears when a coordinator has started.')
    this.#choose(this.#flows.has(this.#chosen) ? this.#chosen : platforms[0])
    this.#drawHere(platforms)
    this.#drawTaken()
  }

  #choose(chosen) {
    this.#chosen = chosen
    reconcile(this.#platforms, [...this.#flows.keys()], platform => platform,
      platform => toggle(shortened(platform, 24), () => this.#choose(platform)),
      (element, platform) => press(element, platform === chosen))
    for (const [platform, { element }] of this.#flows) element.classList.toggle('chosen', platform === chosen)
  }

  #draw(platform, drawing) {
    const flow = this.#flows.get(platform)
    this.#detail.drop(platform)
    flow.show(drawing)
    flow.picture.showCounts(isPressed(this.#counts))
    this.#drawTaken()
    this.#note.hidden = !drawing.note
    setText(this.#note.lastChild, drawing.note)
  }

  #drawHere(platforms) {
    for (const platform of platforms) this.#flows.get(platform)?.setHere(this.#feed.here[platform] ?? {})
  }

  /** What tests do not take is faint instead, and counts are hidden. */
  #drawTaken() {
    const { flows, taken, isCounted } = this.#feed, { hash, places } = this.#untaken
    for (const [platform, { picture }] of this.#flows) {
      picture?.setTaken(taken[platform] ?? {}, !hash && isCounted, picture.drawing.hash === hash && places)
    }
    this.#cover.hidden = !hash || !flows?.length
    setText(this.#cover, flows?.some(flow => flow.hash === hash) ? `Scenarios and recordings miss ${places.size} ✕`
      : 'The bus has another version of the flow ✕')
    this.#counts.hidden = !!hash
    if (hash) this.#showCounts(false)
  }

  #showCounts(isShown) {
    press(this.#counts, isShown)
    for (const { picture } of this.#flows.values()) picture?.showCounts(isShown)
  }

  mark({ platform, key }) {
    for (const flow of this.#flows.values()) flow.picture?.mark(flow.platform === platform ? key : null)
  }
}

function toggle(text, action) { return smallButton(text, action, { 'aria-pressed': 'false' }) }
function press(element, isPressed) { element.ariaPressed = String(isPressed) }
function isPressed(element) { return element.ariaPressed === 'true' }

customElements.define('segue-map', SegueMap)
