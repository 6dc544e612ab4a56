import { h } from '../elements/dom.js'
import { onDrag } from '../elements/drag.js'
import { durations, fadeIn, move, play } from './motion.js'

const swipeEdge = 24
/** Pixels per millisecond that complete a swipe of any length. */
const flick = 0.5
const [left, right] = ['translateX(-30%)', 'translateX(100%)']

/** A navigation stack. Lower screens stay in the document: they keep their scroll positions, and a swipe shows them. */
class SegueStack extends HTMLElement {
  device = null
  fits = false
  #screens = new Map()
  #ids = []
  #swipedOut = ''
  #cancelSwipe = onDrag(this, event => this.#swipe(event))

  disconnectedCallback() { this.#cancelSwipe() }

  get top() { return this.#screens.get(this.#ids.at(-1) ?? '') }

  /** Shows at least one instance. Returns the animation, if there is one. */
  update(instances, describe) {
    const former = this.#ids
    this.#ids = instances.map(instance => instance.id)
    instances.forEach((instance, index) => {
      this.#screen(instance.id).update(describe(instance, instances[index - 1] ?? null))
    })
    const formerTop = former.at(-1) ?? ''
    const old = formerTop === this.#swipedOut ? undefined : this.#screens.get(formerTop)
    this.#swipedOut = ''
    if (old && old !== this.top) return [this.#animate(old, transition(former, this.#ids))]
    this.#settle()
    return []
  }

  #screen(id) {
    if (!this.#screens.has(id)) {
      const screen = Object.assign(h('segue-screen'), { device: this.device, instance: id })
      this.#screens.set(id, screen)
      this.append(screen)
    }
    return this.#screens.get(id)
  }

  #animate(old, kind) {
    const fresh = this.top
    const [below, above] = kind === 'pop' ? [fresh, old] : [old, fresh]
    for (const screen of this.#screens.values()) show(screen, screen === old || screen === fresh)
    old.inert = true
    // A tap on a screen that comes back is accepted at once.
    fresh.inert = false
    arrange(below, above)
    const after = () => {
      above.classList.remove('moving')
      this.#settle()
    }
    if (kind === 'replace' || this.fits) return play([fadeIn(fresh)], durations.fade, after)
    return play(kind === 'push'
      ? [move(fresh, right, 'none', 'in'), move(old, 'none', left)]
      : [move(old, 'none', right, 'out'), move(fresh, left, 'none')], durations.push, after)
  }

  #settle() {
    for (const [id, screen] of this.#screens) {
      if (!this.#ids.includes(id)) {
        screen.remove()
        this.#screens.delete(id)
        continue
      }
      screen.style.zIndex = ''
      screen.inert = screen !== this.top
      show(screen, screen === this.top)
    }
  }

  #swipe(event) {
    const bounds = this.getBoundingClientRect()
    const [belowID, instance] = this.#ids.slice(-2)
    if (event.clientX - bounds.left > swipeEdge || !instance || !this.device.canSwipe(instance)) return null
    const [below, top] = [this.#screens.get(belowID), this.#screens.get(instance)]
    let release = () => {}
    let x = 0
    const place = distance => {
      x = Math.min(Math.max(distance, 0), bounds.width)
      top.style.transform = `translateX(${x}px)`
      below.style.transform = `translateX(${-0.3 * (bounds.width - x)}px)`
    }
    const finish = (isCompleted, milliseconds) => {
      const [topEnd, belowEnd] = isCompleted ? [right, 'none'] : ['none', left]
      const steps = [move(top, top.style.transform, topEnd, isCompleted ? 'out' : null),
        move(below, below.style.transform, belowEnd)]
      const after = () => {
        top.style.transform = below.style.transform = ''
        top.classList.remove('moving')
        show(isCompleted ? top : below, false)
        if (isCompleted) this.#swipedOut = instance
        // What waits for the release must not show the screen again.
        this.device.reportBack(isCompleted ? 'completed' : 'cancelled', instance)
        release()
      }
      if (this.isConnected) play(steps, milliseconds, after)
      else after()
    }
    return {
      axis: 'x',
      forwardOnly: true,
      started: () => {
        release = this.device.hold()
        show(below, true)
        arrange(below, top)
        this.device.reportBack('started', instance)
      },
      moved: place,
      ended: (distance, y, velocity) => {
        place(distance)
        const isCompleted = velocity > flick || (x > bounds.width / 2 && velocity > -flick)
        const rest = (isCompleted ? bounds.width - x : x) / bounds.width
        finish(isCompleted, durations.settle * (0.5 + rest))
      },
      cancelled: () => finish(false, durations.settle),
    }
  }
}

function transition(former, ids) {
  if (former[0] !== ids[0]) return 'replace'
  if (ids.includes(former.at(-1) ?? '')) return 'push'
  return former.includes(ids.at(-1) ?? '') || ids.length < former.length ? 'pop' : 'push'
}

function show(screen, isShown) { screen.classList.toggle('covered', !isShown) }

/** The screens are in the order of their pushes, which is not always that of the stack. */
function arrange(below, above) {
  below.style.zIndex = '1'
  above.style.zIndex = '2'
  above.classList.add('moving')
}

customElements.define('segue-stack', SegueStack)
