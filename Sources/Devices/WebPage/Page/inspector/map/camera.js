// The part of a drawing that is in view: zoom, by wheel, pinch and keys, and the way to another place.

const [nearest, smallest] = [2.5, 0.08]
/** Below this zoom the words of arrows cannot be read; they are drawn as dots. */
const READABLE = 0.6
/** The smallest zoom at the beginning. */
const BEGIN = 0.7
const LARGEST_FIT = 1.15
const EDGE = 14
const TRAVEL = 450
/** The time in milliseconds after a person has moved the view, in which it does not move by itself. */
const REST = 10_000
const dragDistance = 6

const reduced = matchMedia('(prefers-reduced-motion: reduce)')
const small = matchMedia('(max-width: 800px)')

export class Camera {
  #frame
  #world
  #size = { width: 0, height: 0 }
  #view = { width: 0, height: 0 }
  #place = { x: 0, y: 0, zoom: 1 }
  #movedAt = -REST
  #animation = 0
  #pointers = new Map()
  #isFitted = true
  #center

  /** @param frame the `svg` element in whose coordinates the world is moved */
  constructor(frame) {
    this.#frame = frame
    frame.addEventListener('wheel', event => this.#wheel(event), { passive: false })
    frame.addEventListener('pointerdown', event => this.#down(event))
    for (const name of ['pointerup', 'pointercancel', 'lostpointercapture']) {
      frame.addEventListener(name, event => this.#pointers.delete(event.pointerId))
    }
    frame.addEventListener('pointermove', event => this.#move(event))
  }

  /** Shows another drawing, beginning at a card if all of it would be too small to be read. */
  show(world, size, card) {
    this.#world = world
    this.#size = size
    this.begin(card)
  }

  /** Fits all of it, or shows the surroundings of a card at a zoom at which words can be read. */
  begin(card) {
    this.#center = card
    this.#isFitted = true
    const fit = this.#fit()
    this.#set(fit.zoom >= BEGIN || !card ? fit : this.#around(card, Math.max(BEGIN, fit.zoom)))
  }

  resize(width, height) {
    if (width === this.#view.width && height === this.#view.height) return
    const former = this.#view
    this.#view = { width, height }
    if (!this.#world || !width) return
    if (this.#isFitted || !former.width) return this.begin(this.#center)
    const { x, y, zoom } = this.#place
    this.#set({ x: x + (width - former.width) / 2, y: y + (height - former.height) / 2, zoom })
  }

  fit() {
    this.#touch()
    this.#travel(this.#fit())
  }

  zoomBy(factor, x = this.#view.width / 2, y = this.#view.height / 2) {
    this.#touch()
    const { x: left, y: top, zoom } = this.#place
    const next = Math.min(Math.max(zoom * factor, smallest), nearest)
    this.#set({ x: x - (x - left) * next / zoom, y: y - (y - top) * next / zoom, zoom: next })
  }

  /** Follows a card that has left the view, unless a person has just moved the view. */
  follow(card) {
    this.#center = card
    if (performance.now() - this.#movedAt >= REST) this.reveal(card)
  }

  /** Brings boxes into view. */
  reveal(...boxes) {
    const { x, y, zoom } = this.#place, { width, height } = this.#view
    const left = Math.min(...boxes.map(box => box.x)), top = Math.min(...boxes.map(box => box.y))
    const right = Math.max(...boxes.map(box => box.x + box.width))
    const bottom = Math.max(...boxes.map(box => box.y + box.height))
    const isInside = left * zoom + x >= EDGE && top * zoom + y >= EDGE
      && right * zoom + x <= width - EDGE && bottom * zoom + y <= height - EDGE
    if (isInside || !width) return
    this.#travel(this.#around({ x: left, y: top, width: right - left, height: bottom - top }, zoom))
  }

  #fit() {
    const { width, height } = this.#view
    const zoom = Math.max(smallest, Math.min(LARGEST_FIT, (width - 2 * EDGE) / Math.max(1, this.#size.width),
      (height - 2 * EDGE) / Math.max(1, this.#size.height)))
    return { zoom, x: (width - this.#size.width * zoom) / 2, y: (height - this.#size.height * zoom) / 2 }
  }

  /** A box in the middle, without empty space beside the drawing. */
  #around(box, zoom) {
    const along = (view, size, middle) => size * zoom + 2 * EDGE <= view ? (view - size * zoom) / 2
      : Math.min(EDGE, Math.max(view - size * zoom - EDGE, view / 2 - middle * zoom))
    return {
      x: along(this.#view.width, this.#size.width, box.x + box.width / 2),
      y: along(this.#view.height, this.#size.height, box.y + box.height / 2), zoom,
    }
  }

  #touch() {
    this.#movedAt = performance.now()
    this.#isFitted = false
    cancelAnimationFrame(this.#animation)
  }

  #set(place) {
    this.#place = place
    const { x, y, zoom } = place
    this.#world?.setAttribute('transform', `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${zoom.toFixed(4)})`)
    this.#frame.classList.toggle('far', zoom < READABLE)
  }

  #travel(to) {
    cancelAnimationFrame(this.#animation)
    if (reduced.matches || document.hidden) return this.#set(to)
    const from = this.#place
    let start
    const step = time => {
      start ??= time
      const part = Math.min(1, (time - start) / TRAVEL), eased = 1 - (1 - part) ** 3
      const between = name => from[name] + (to[name] - from[name]) * eased
      this.#set({ x: between('x'), y: between('y'), zoom: between('zoom') })
      if (part < 1) this.#animation = requestAnimationFrame(step)
    }
    this.#animation = requestAnimationFrame(step)
  }

  // MARK: Pointers

  #at({ clientX, clientY }) {
    const { left, top } = this.#frame.getBoundingClientRect()
    return { x: clientX - left, y: clientY - top }
  }

  #wheel(event) {
    // On a small page a wheel scrolls; with Control it is a pinch on a touch pad.
    if (small.matches && !event.ctrlKey) return
    event.preventDefault()
    const step = event.deltaY * (event.deltaMode === 1 ? 16 : 1)
    const { x, y } = this.#at(event)
    this.zoomBy(Math.exp(-Math.min(Math.max(step, -120), 120) * (event.ctrlKey ? 0.01 : 0.002)), x, y)
  }

  #down(event) {
    if (event.button) return
    this.#pointers.set(event.pointerId, { ...this.#at(event), start: this.#at(event), isMoving: false })
  }

  #move(event) {
    const former = this.#pointers.get(event.pointerId)
    if (!former) return
    const now = this.#at(event)
    // The click that follows a drag then goes to the frame instead of a card.
    if (!former.isMoving && Math.hypot(now.x - former.start.x, now.y - former.start.y) < dragDistance) return
    if (!former.isMoving) this.#frame.setPointerCapture(event.pointerId)
    this.#touch()
    const other = [...this.#pointers].find(([id]) => id !== event.pointerId)?.[1]
    if (other) {
      const length = point => Math.hypot(point.x - other.x, point.y - other.y) || 1
      this.zoomBy(length(now) / length(former), other.x, other.y)
    } else {
      const { x, y, zoom } = this.#place
      this.#set({ x: x + now.x - former.x, y: y + now.y - former.y, zoom })
    }
    this.#pointers.set(event.pointerId, { ...former, ...now, isMoving: true })
  }
}
