import { go } from '../address.js'
import { previews } from '../device/previews.js'
import { button, fill, h, reconcile, setText } from '../elements/dom.js'
import { addStyles } from '../elements/styles.js'
import { shortened } from '../elements/text.js'
import { InspectorElement } from './inspector-element.js'
import { MapDetail } from './map/detail.js'
import { MapFeed } from './map/feed.js'
import { MapFlow } from './map/flow.js'
import { Trail } from './map/trail.js'
import { readAddress } from './selection.js'

await addStyles('map/map', import.meta.url)

const all = '*'

/** The flows as graphs that show what happens in them. `address`: `#/map?session=anna`; `session=*` for all. */
class SegueMap extends InspectorElement {
  #asked = ''
  #deviceSession = 'default'
  #flows = new Map()
  #shown = ''
  #feed
  #detail
  #trail = new Trail()
  #host = h('div.map-flows')
  #line = h('p.map-empty.quiet.late', { role: 'status' })
  #one = button('', () => this.#choose(''), { class: 'button small' })
  #all = button('All sessions', () => this.#choose(all), { class: 'button small' })
  #counts = button('Counts', () => this.#showCounts(), { class: 'button small', 'aria-pressed': 'false' })
  #note = h('details.map-hint', h('summary', 'Simple layout'), h('p'))
  #platforms = h('div.map-platforms.wrapping', { role: 'group', 'aria-label': 'Platform' })
  #size = { width: 0, height: 0 }

  set address(address) {
    this.#asked = readAddress(address).selection.session ?? ''
    this.#openSession()
  }

  /** The session of the devices, which the map shows if its address names none. */
  set session(session) {
    this.#deviceSession = session
    this.#openSession()
  }

  get #session() { return this.#asked === all ? null : this.#asked || this.#deviceSession }

  build() {
    this.#feed = new MapFeed(this.connection, {
      flows: () => this.#drawFlows(),
      drawing: (platform, drawing) => this.#show(platform, drawing),
      failure: (platform, line) => platform === null ? setText(this.#line, line) : this.#flows.get(platform)?.fail(line),
      here: platforms => this.#here(platforms),
      taken: taken => this.#taken(taken),
      moves: moves => { for (const move of moves) this.#flows.get(move.platform)?.move(move) },
      rows: (rows, isFirst) => this.#rows(rows, isFirst),
    })
    this.#detail = new MapDetail(this.#feed, {
      open: (flow, item) => {
        flow.reveal(item)
        this.#detail.show(flow, item)
      },
      closed: (flow, item) => flow.focus(item),
    })
    const zoom = (symbol, label, action) => button(symbol, () => {
      for (const flow of this.#visible) action(flow)
    }, { class: 'button small', 'aria-label': label, title: label })
    fill(this,
      h('div.map-head.wrapping',
        h('div.wrapping', { role: 'group', 'aria-label': 'Session' }, this.#one, this.#all), this.#platforms, this.#note,
        h('span.space'), this.#counts,
        h('div.wrapping', { role: 'group', 'aria-label': 'Zoom' },
          zoom('−', 'Zoom out (-)', flow => flow.zoomBy(0.8)), zoom('+', 'Zoom in (+)', flow => flow.zoomBy(1.25)),
          zoom('Fit', 'Fit (0)', flow => flow.fit())),
        button('✕', () => this.dispatchEvent(new CustomEvent('closemap', { bubbles: true })),
          { class: 'button plain small map-close', 'aria-label': 'Close the map', title: 'Close the map' })),
      h('div.map-body', h('div.map-main', this.#host, this.#line), this.#trail.element, this.#detail.element))
    new ResizeObserver(([{ contentRect }]) => {
      this.#size = contentRect
      this.#arrange()
    }).observe(this.#host)
    this.addEventListener('keydown', event => {
      if (event.key === 'Escape' && !event.defaultPrevented) this.#detail.close()
    })
    this.#drawSession()
  }

  start() {
    previews.addEventListener('change', this.#preview)
    this.#feed.open(this.#session)
    if (!this.#feed.flows) setText(this.#line, 'Asking the gateway…')
  }

  stop() {
    previews.removeEventListener('change', this.#preview)
    this.#feed.close()
  }

  #preview = ({ platform, screen }) => this.#flows.get(platform)?.picture?.preview(screen)

  get #visible() { return [...this.#flows.values()].filter(flow => flow.element.checkVisibility()) }

  // MARK: The session

  #choose(session) { go(session ? `#/map?session=${encodeURIComponent(session)}` : '#/map') }

  #openSession() {
    if (!this.#feed) return
    this.#drawSession()
    if (!this.isConnected || this.#session === this.#feed.session) return
    this.#trail.clear()
    this.#feed.open(this.#session)
  }

  #drawSession() {
    const isAll = this.#session === null
    setText(this.#one, `Session ${shortened((isAll ? '' : this.#session) || this.#deviceSession, 24)}`)
    this.#one.ariaPressed = String(!isAll)
    this.#all.ariaPressed = String(isAll)
  }

  // MARK: The flows

  #drawFlows() {
    const { flows } = this.#feed
    for (const platform of this.#flows.keys()) {
      if (flows.some(flow => flow.platform === platform)) continue
      this.#detail.drop(platform)
      this.#flows.delete(platform)
    }
    for (const { platform } of flows) {
      if (!this.#flows.has(platform)) {
        this.#flows.set(platform, new MapFlow(platform, (flow, item) => this.#detail.show(flow, item)))
      }
    }
    const shown = flows.map(({ platform }) => this.#flows.get(platform))
    reconcile(this.#host, shown, flow => flow.platform, flow => flow.element)
    setText(this.#line, flows.length ? '' : 'No flow is on the bus. It appears when a coordinator has started.')
    if (!this.#flows.has(this.#shown)) this.#shown = flows[0]?.platform ?? ''
    this.#drawPlatforms()
    this.#here(flows.map(flow => flow.platform))
  }

  /** On a small page one platform is shown at a time. */
  #drawPlatforms() {
    reconcile(this.#platforms, this.#flows.size > 1 ? [...this.#flows.keys()] : [], platform => platform,
      platform => button(h('bdi', shortened(platform, 24)), () => {
        this.#shown = platform
        this.#drawPlatforms()
      }, { class: 'button small' }),
      (element, platform) => { element.ariaPressed = String(platform === this.#shown) })
    for (const [platform, { element }] of this.#flows) element.classList.toggle('chosen', platform === this.#shown)
  }

  #show(platform, drawing) {
    const flow = this.#flows.get(platform)
    if (!flow) return
    this.#detail.drop(platform)
    flow.show(drawing)
    flow.picture.setTaken(this.#feed.taken[platform] ?? {}, this.#feed.isCounted, null)
    flow.picture.showCounts(this.#counts.ariaPressed === 'true')
    const notes = [...new Set([...this.#flows.values()].map(flow => flow.drawing?.note).filter(Boolean))]
    this.#note.hidden = !notes.length
    setText(this.#note.lastChild, notes.join(' '))
    this.#arrange()
  }

  /** Puts the flows below or beside each other, as their pictures become larger. */
  #arrange() {
    const { width, height } = this.#size, flows = [...this.#flows.values()]
    const smallest = (across, down) => Math.min(...flows.map(flow => flow.zoomFor(width / across, height / down - 28)))
    this.#host.classList.toggle('side-by-side', flows.length > 1 && smallest(flows.length, 1) > smallest(1, flows.length))
  }

  #here(platforms) {
    for (const platform of platforms) this.#flows.get(platform)?.setHere(this.#feed.here[platform] ?? {})
  }

  #taken(taken) {
    for (const [platform, { picture }] of this.#flows) {
      if (!taken || Object.hasOwn(taken, platform)) {
        picture?.setTaken(this.#feed.taken[platform] ?? {}, this.#feed.isCounted, taken && Object.keys(taken[platform]))
      }
    }
  }

  #showCounts() {
    const isShown = this.#counts.ariaPressed !== 'true'
    this.#counts.ariaPressed = String(isShown)
    this.#host.classList.toggle('counts', isShown)
    for (const { picture } of this.#flows.values()) picture?.showCounts(isShown)
  }

  // MARK: What happens

  #rows(rows, isFirst) {
    this.#trail.receive(rows)
    if (isFirst) return
    const begun = new Map(rows.filter(row => row.kind === 'origin').map(row => [row.platform, row.actor]))
    for (const [platform, actor] of begun) this.#flows.get(platform)?.picture?.pulse(actor)
  }

  /** Marks the arrows of a rule; none if `key` is missing. */
  mark({ platform, key }) {
    for (const flow of this.#flows.values()) flow.picture?.mark(flow.platform === platform ? key : null)
  }
}

customElements.define('segue-map', SegueMap)
