// @ts-check
import { onDrag, play } from './motion.js'
import { make, setAttribute } from './render.js'

/** The width of the strip at the left edge in which a back swipe starts. */
const swipeEdge = 24
/** Pixels per millisecond to the right that complete a swipe of any length. */
const flick = 0.5

/**
 * A navigation stack. The screens below the top stay in the document, so that they keep their scroll positions and a
 * swipe can show them.
 */
export class SegueStack extends HTMLElement {
    /** @type {any} */
    device = null
    /** True if the panel around the stack takes its height from the top screen. */
    fits = false
    /** @type {Map<string, any>} */
    #screens = new Map()
    /** @type {string[]} */
    #ids = []
    /** A screen that a swipe has already moved out. */
    #swipedOut = ''
    #cancelSwipe = () => {}
    #built = false

    connectedCallback() {
        if (this.#built) return
        this.#built = true
        this.#cancelSwipe = onDrag(this, event => this.#swipe(event))
    }

    disconnectedCallback() { this.#cancelSwipe() }

    get top() { return this.#screens.get(this.#ids.at(-1) ?? '') }
    /** All screens, also those that are leaving. */
    get screens() { return [...this.#screens.values()] }

    /**
     * @param {{id: string, screen: string}[]} instances at least one
     * @param {(screen: {id: string, screen: string}, below: any) => any} describe what a screen shows
     * @returns {Promise<void> | null} the animation; null if there is none
     */
    update(instances, describe) {
        const former = this.#ids
        const ids = instances.map(instance => instance.id)
        instances.forEach((instance, index) => {
            let screen = this.#screens.get(instance.id)
            if (!screen) {
                screen = make('segue-screen')
                screen.device = this.device
                screen.instance = instance.id
                this.#screens.set(instance.id, screen)
                this.append(screen)
            }
            screen.update(describe(instance, instances[index - 1] ?? null))
        })
        this.#ids = ids
        const top = ids.at(-1) ?? ''
        const formerTop = former.at(-1) ?? ''
        const old = this.#screens.get(formerTop)
        const isAnimated = old && formerTop !== top && formerTop !== this.#swipedOut
        this.#swipedOut = ''
        if (!isAnimated) {
            this.#settle()
            return null
        }
        return this.#animate(old, this.#screens.get(top), transition(former, ids))
    }

    #animate(old, fresh, kind) {
        for (const screen of this.#screens.values()) show(screen, screen === old || screen === fresh)
        old.inert = true
        const left = { transform: 'translateX(-30%)' }
        const right = { transform: 'translateX(100%)' }
        const still = { transform: 'none' }
        const above = kind === 'pop' ? old : fresh
        above.classList.add('moving')
        order(old, kind === 'pop' ? 2 : 1)
        order(fresh, kind === 'pop' ? 1 : 2)
        const after = () => {
            above.classList.remove('moving')
            this.#settle()
        }
        if (kind === 'replace' || this.fits) {
            return play([[fresh, [{ opacity: 0 }, { opacity: 1 }], 'in']], 200, after)
        }
        return kind === 'push'
            ? play([[fresh, [right, still], 'in'], [old, [still, left], null]], 350, after)
            : play([[old, [still, right], 'out'], [fresh, [left, still], null]], 350, after)
    }

    /** Removes the screens that have left, and hides those below the top. */
    #settle() {
        for (const [id, screen] of this.#screens) {
            const index = this.#ids.indexOf(id)
            if (index < 0) {
                screen.remove()
                this.#screens.delete(id)
                continue
            }
            const isTop = index === this.#ids.length - 1
            order(screen, index)
            screen.inert = !isTop
            show(screen, isTop)
        }
    }

    // MARK: The back swipe

    /** @param {PointerEvent} event */
    #swipe(event) {
        const instance = this.#ids.at(-1) ?? ''
        const bounds = this.getBoundingClientRect()
        if (event.clientX - bounds.left > swipeEdge || this.#ids.length < 2) return null
        if (!this.device.canSwipe(instance)) return null
        const top = this.#screens.get(instance)
        const below = this.#screens.get(this.#ids.at(-2) ?? '')
        let release = () => {}
        let x = 0
        const place = distance => {
            x = Math.min(Math.max(distance, 0), bounds.width)
            top.style.setProperty('transform', `translateX(${x}px)`)
            below.style.setProperty('transform', `translateX(${-0.3 * (bounds.width - x)}px)`)
        }
        const finish = (isCompleted, milliseconds) => {
            const from = [top.style.transform, below.style.transform]
            const to = isCompleted ? [`translateX(${bounds.width}px)`, 'none'] : ['none', 'translateX(-30%)']
            const after = () => {
                top.style.removeProperty('transform')
                below.style.removeProperty('transform')
                top.classList.remove('moving')
                if (isCompleted) {
                    this.#swipedOut = instance
                    show(top, false)
                } else {
                    show(below, false)
                }
                // The report comes before the release: what waits for the release must not show the screen again.
                this.device.reportBack(isCompleted ? 'completed' : 'cancelled', instance)
                release()
            }
            if (!this.isConnected) return after()
            play([[top, [{ transform: from[0] }, { transform: to[0] }], isCompleted ? 'out' : null],
                [below, [{ transform: from[1] }, { transform: to[1] }], null]], milliseconds, after)
        }
        return {
            axis: /** @type {'x'} */ ('x'),
            forwardOnly: true,
            started: () => {
                release = this.device.hold()
                show(below, true)
                order(below, 1)
                order(top, 2)
                top.classList.add('moving')
                this.device.reportBack('started', instance)
            },
            moved: place,
            ended: (distance, y, velocity) => {
                place(distance)
                const isCompleted = velocity > flick || (x > bounds.width / 2 && velocity > -flick)
                const rest = (isCompleted ? bounds.width - x : x) / bounds.width
                finish(isCompleted, 120 + 200 * rest)
            },
            cancelled: () => finish(false, 200),
        }
    }
}

/** @param {string[]} former @param {string[]} ids @returns {'push' | 'pop' | 'replace'} */
function transition(former, ids) {
    if (former[0] !== ids[0]) return 'replace'
    if (ids.includes(former.at(-1) ?? '')) return 'push'
    if (former.includes(ids.at(-1) ?? '') || ids.length < former.length) return 'pop'
    return 'push'
}

function show(screen, isShown) {
    screen.classList.toggle('covered', !isShown)
    setAttribute(screen, 'aria-hidden', isShown ? null : 'true')
}

function order(screen, index) { screen.style.setProperty('z-index', String(index)) }

customElements.define('segue-stack', SegueStack)
