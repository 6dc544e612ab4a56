// The part of a drawing that is in view.

const [smallest, largest, largestFit] = [0.08, 2.5, 1.15]
/** Below the first zoom, words are drawn as dots. A view that would be smaller begins with the second. */
const [readable, first] = [0.6, 0.7]
const edge = 14
/** Milliseconds in which a view that a person has moved does not move by itself. */
const rest = 10_000
const small = matchMedia('(max-width: 800px)')

/** Zoom by wheel, pinch and keys, and ways to other places of an `svg` element. */
export class Camera {
  #frame
  #world
  #size
  #view = { width: 0, height: 0 }
  #place = { x: 0, y: 0, zoom: 1 }
  #movedAt = -rest
  #isMoved = false
  #pointers = new Map()
  #center

  constructor(frame) {
    this.#frame = frame
    frame.addEventListener('wheel', event => this.#wheel(event), { passive: false })
    frame.addEventListener('pointerdown', event => {
      if (!event.button) this.#pointers.set(event.pointerId, this.#at(event))
    })
    for (const name of ['pointerup', 'pointercancel']) {
      frame.addEventListener(name, event => this.#pointers.delete(event.pointerId))
    }
    frame.addEventListener('pointermove', event => this.#move(event))
  }

  /** Begins at a card if the whole drawing would be too small to be read. */
  show(world, size, card) {
    this.#world = world
    this.#size = size
    this.#center = card
    this.#isMoved = false
    const fit = this.#fit
    this.#set(fit.zoom >= first || !card ? fit : this.#around(card, first))
  }

  resize(view) {
    this.#view = view
    if (this.#world && view.width && !this.#isMoved) this.show(this.#world, this.#size, this.#center)
  }

  fit() {
    this.#touch()
    this.#set(this.#fit, true)
  }

  zoomBy(factor, x = this.#view.width / 2, y = this.#view.height / 2) {
    this.#touch()
    const { zoom, ...former } = this.#place, next = Math.min(Math.max(zoom * factor, smallest), largest)
    this.#set({ x: x - (x - former.x) * next / zoom, y: y - (y - former.y) * next / zoom, zoom: next })
  }

  /** The camera stays if a person has just moved the view. */
  follow(card) {
    this.#center = card
    if (performance.now() - this.#movedAt >= rest) this.reveal(card)
  }

  reveal(box) {
    const { x, y, zoom } = this.#place, { width, height } = this.#view
    const isInside = (start, length, shift, room) =>
      start * zoom + shift >= edge && (start + length) * zoom + shift <= room - edge
    if (isInside(box.x, box.width, x, width) && isInside(box.y, box.height, y, height)) return
    this.#set(this.#around(box, zoom), true)
  }

  get #fit() {
    const { width, height } = this.#size
    const zoom = Math.min(largestFit, (this.#view.width - 2 * edge) / (width || 1),
      (this.#view.height - 2 * edge) / (height || 1))
    return this.#around({ x: 0, y: 0, width, height }, Math.max(smallest, zoom))
  }

  #around(box, zoom) {
    const along = (room, size, middle) => size * zoom + 2 * edge <= room ? (room - size * zoom) / 2
      : Math.min(edge, Math.max(room - size * zoom - edge, room / 2 - middle * zoom))
    const { width, height } = this.#view
    return { zoom, x: along(width, this.#size.width, box.x + box.width / 2),
      y: along(height, this.#size.height, box.y + box.height / 2) }
  }

  #touch() {
    this.#movedAt = performance.now()
    this.#isMoved = true
  }

  /** With `isTravel`, the style sheet moves the drawing there in some time. */
  #set(place, isTravel = false) {
    this.#place = place
    const { x, y, zoom } = place
    this.#frame.classList.toggle('far', zoom < readable)
    if (!this.#world) return
    this.#world.classList.toggle('travels', isTravel)
    this.#world.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px) scale(${zoom.toFixed(4)})`
  }

  #at({ clientX, clientY }) {
    const { left, top } = this.#frame.getBoundingClientRect()
    return { x: clientX - left, y: clientY - top }
  }

  #wheel(event) {
    // On a small page a wheel scrolls; with Control it is a pinch on a touch pad.
    if (small.matches && !event.ctrlKey) return
    event.preventDefault()
    const { x, y } = this.#at(event), step = event.deltaY * (event.deltaMode === 1 ? 16 : 1)
    this.zoomBy(Math.exp(-Math.min(Math.max(step, -120), 120) * (event.ctrlKey ? 0.01 : 0.002)), x, y)
  }

  #move(event) {
    const former = this.#pointers.get(event.pointerId), now = this.#at(event)
    if (!former || (!former.isMoving && Math.hypot(now.x - former.x, now.y - former.y) < 6)) return
    // The click after a drag then goes to the frame instead of a card.
    if (!former.isMoving) this.#frame.setPointerCapture(event.pointerId)
    const other = [...this.#pointers].find(([id]) => id !== event.pointerId)?.[1]
    const length = point => Math.hypot(point.x - other.x, point.y - other.y) || 1
    if (other) this.zoomBy(length(now) / length(former), other.x, other.y)
    else {
      this.#touch()
      const { x, y, zoom } = this.#place
      this.#set({ x: x + now.x - former.x, y: y + now.y - former.y, zoom })
    }
    this.#pointers.set(event.pointerId, { ...now, isMoving: true })
  }
}
