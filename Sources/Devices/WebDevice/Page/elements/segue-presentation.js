// @ts-check
import { onDrag, play } from './motion.js'
import { asName, button, iconButton, make, put, reconcile, setAttribute, uniqueID } from './render.js'

/** A sheet that is released with less than this part of the device's height visible is dismissed. */
const dismissBelow = 1 / 3
const flick = 0.6
const windowStep = 16

/**
 * A presented screen: sheet, full screen, popover, alert, dialog or window. The style of an instance never changes, so
 * the element is built once.
 */
export class SeguePresentation extends HTMLElement {
    /** @type {any} */
    device = null
    instance = ''
    kind = 'sheet'
    isDismissible = false
    /** @type {string[]} */
    #detents = ['large']
    #detent = ''
    /** The offset of a dragged sheet from its detent, in pixels. */
    #offset = 0
    #dragged = false
    #anchor = null
    #cancelDrag = () => {}
    #observer = new ResizeObserver(() => this.#placePopover())

    /** @param {string} style @param {string} instance @param {any} device @param {HTMLElement | null} anchor */
    build(style, instance, device, anchor) {
        this.device = device
        this.instance = instance
        this.kind = style
        this.#anchor = anchor
        this.className = `presentation ${style}`
        const label = uniqueID()
        const isQuestion = style === 'alert' || style === 'dialog'
        this.scrim = make('div', 'scrim')
        this.panel = make('div', 'panel', { role: isQuestion ? 'alertdialog' : 'dialog' })
        this.scrim.addEventListener('click', () => {
            if (style === 'popover' || style === 'sheet') this.requestDismissal()
        })
        if (isQuestion) this.#buildQuestion(label)
        else this.#buildStack(style, label)
        this.append(...(style === 'window' || style === 'fullScreen' ? [] : [this.scrim]), this.panel)
        if (style === 'window') this.nested = this.panel.appendChild(make('div', 'nested'))
        if (style === 'popover') {
            this.arrow = this.panel.appendChild(make('span', 'arrow', { 'aria-hidden': 'true' }))
            this.#observer.observe(this.panel)
            this.#observer.observe(device.stage)
        }
    }

    disconnectedCallback() {
        this.#cancelDrag()
        this.#observer.disconnect()
    }

    get isQuestion() { return this.kind === 'alert' || this.kind === 'dialog' }

    /**
     * @param {any} presentation @param {{content: any, title: any}} question the content, if it is an alert or a dialog
     * @param {boolean} isDismissible @param {any} describe @returns {Promise<void> | null}
     */
    update(presentation, question, isDismissible, describe) {
        this.isDismissible = isDismissible
        if (this.isQuestion) {
            this.#drawQuestion(presentation, question)
            return null
        }
        this.#detents = ['medium', 'large'].filter(name => presentation.detents.includes(name))
        if (!this.#detents.length) this.#detents = ['large']
        if (!this.#detents.includes(this.#detent)) this.#detent = this.#detents[0]
        if (this.grabber) {
            this.grabber.hidden = !presentation.grabber
            this.#drawGrabber()
        }
        if (this.closer) this.closer.disabled = !isDismissible
        const animation = this.stack.update(presentation.instances, describe)
        const title = asName(describe(presentation.instances.at(-1), null).title)
        setAttribute(this.panel, 'aria-label', title)
        if (this.windowTitle) put(this.windowTitle, title)
        return animation
    }

    requestDismissal() {
        const cancel = this.isQuestion ? this.buttons.querySelector('[data-role=cancel]:enabled') : null
        if (this.isDismissible) this.device.dismiss(this.instance)
        else if (cancel) cancel.click()
        else this.#shake()
    }

    // MARK: Entering and leaving

    enter() {
        const scrim = [this.scrim, [{ opacity: 0 }, { opacity: 1 }], 'in']
        return play([[this.panel, this.#hiddenFrames().reverse(), 'in'], /** @type {any} */ (scrim)], this.#duration, () => {
            if (this.kind === 'popover') this.#placePopover()
        })
    }

    /** Moves the presentation out, and removes it in the frame in which the animation ends. */
    leave() {
        this.inert = true
        this.#cancelDrag()
        if (this.#dragged) {
            this.remove()
            return Promise.resolve()
        }
        const scrim = [this.scrim, [{ opacity: 1 }, { opacity: 0 }], 'out']
        return play([[this.panel, this.#hiddenFrames(), 'out'], /** @type {any} */ (scrim)], this.#duration, () => this.remove())
    }

    get #duration() { return this.kind === 'sheet' || this.kind === 'fullScreen' ? 400 : 200 }

    #hiddenFrames() {
        const isMac = this.device.isWindow
        switch (this.kind) {
        case 'sheet': return [{ transform: 'none' }, { transform: isMac ? 'translateY(-105%)' : 'translateY(105%)' }]
        case 'fullScreen': return [{ transform: 'none' }, { transform: 'translateY(100%)' }]
        case 'dialog': if (!isMac) return [{ transform: 'none' }, { transform: 'translateY(110%)' }]
        }
        return [{ opacity: 1, transform: 'none' }, { opacity: 0, transform: this.isQuestion ? 'scale(1.08)' : 'scale(.94)' }]
    }

    #shake() {
        const frames = this.kind === 'sheet' && !this.device.isWindow
            ? [{ transform: 'none' }, { transform: 'translateY(14px)' }, { transform: 'none' }]
            : [{ transform: 'none' }, { transform: 'scale(1.015)' }, { transform: 'none' }]
        play([[this.panel, frames, null]], 220)
    }

    // MARK: A stack in a panel

    #buildStack(style, label) {
        this.stack = make('segue-stack')
        this.stack.device = this.device
        this.stack.fits = style === 'popover' || (style === 'sheet' && this.device.isWindow)
        if (style === 'window') this.#buildTitleBar()
        if (style === 'sheet' && !this.device.isWindow) this.#buildGrabber()
        this.panel.append(this.stack)
    }

    #buildTitleBar() {
        this.windowTitle = make('bdi', 'window-title')
        this.closer = iconButton('', 'Close the window', () => this.requestDismissal(), 'light close-light')
        // A focusable handle, so that the arrow keys can move the window.
        const handle = button('', () => this.device.raise(this), 'window-handle')
        handle.append(this.windowTitle)
        const bar = make('div', 'title-bar', {}, this.closer, handle)
        handle.setAttribute('aria-description', 'Arrow keys move the window')
        handle.addEventListener('keydown', event => {
            const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key]
            if (!step) return
            event.preventDefault()
            this.moveTo(this.offsetLeft + windowStep * step[0], this.offsetTop + windowStep * step[1])
        })
        this.addEventListener('pointerdown', () => this.device.raise(this))
        this.addEventListener('focusin', () => this.device.raise(this))
        this.#cancelDrag = onDrag(bar, () => {
            const { offsetLeft, offsetTop } = this
            const move = (x, y) => this.moveTo(offsetLeft + x, offsetTop + y)
            return { moved: move, ended: move, cancelled: () => this.moveTo(offsetLeft, offsetTop) }
        })
        this.panel.append(bar)
    }

    /** Moves a window; its title bar stays within reach. @param {number} x @param {number} y */
    moveTo(x, y) {
        const area = /** @type {HTMLElement} */ (this.parentElement)
        const left = Math.min(Math.max(x, 60 - this.offsetWidth), area.clientWidth - 60)
        const top = Math.min(Math.max(y, 0), Math.max(0, area.clientHeight - 40))
        this.style.setProperty('left', `${left}px`)
        this.style.setProperty('top', `${top}px`)
    }

    // MARK: The grabber of a sheet

    #buildGrabber() {
        this.grabber = make('div', 'grabber', {
            role: 'slider', tabindex: '0', 'aria-label': 'Height of the sheet', 'aria-orientation': 'vertical',
            'aria-valuemin': '0',
        })
        this.grabber.addEventListener('keydown', event => this.#grabberKey(event))
        this.grabber.addEventListener('click', () => {
            const next = (this.#detents.indexOf(this.#detent) + 1) % this.#detents.length
            if (this.#detents.length > 1) this.#snap(this.#detents[next])
        })
        this.panel.append(this.grabber)
        this.#cancelDrag = onDrag(this.panel, event => this.#drag(event))
    }

    #drawGrabber() {
        this.panel.dataset.detent = this.#detent
        setAttribute(this.grabber, 'aria-valuemax', String(this.#detents.length - 1))
        setAttribute(this.grabber, 'aria-valuenow', String(this.#detents.indexOf(this.#detent)))
        setAttribute(this.grabber, 'aria-valuetext', this.#detent === 'medium' ? 'half' : 'full')
    }

    #grabberKey(event) {
        const index = this.#detents.indexOf(this.#detent)
        if (event.key === 'ArrowUp' && index < this.#detents.length - 1) this.#snap(this.#detents[index + 1])
        else if (event.key === 'ArrowDown' && index > 0) this.#snap(this.#detents[index - 1])
        else if (event.key === 'ArrowDown') this.requestDismissal()
        else return
        event.preventDefault()
    }

    /** @param {PointerEvent} event */
    #drag(event) {
        const target = /** @type {Element} */ (event.target)
        // The content scrolls; only the grabber and the bar move the sheet.
        if (!target.closest('.grabber, .bar')) return null
        const height = this.device.stage.clientHeight
        const start = this.panel.offsetHeight
        let release = () => {}
        const place = y => {
            const largest = this.#detents.at(-1) === 'large' ? this.#height('large') : start
            const above = Math.max(0, start - y - largest)
            // Beyond the largest detent, and below the smallest if it may not be dismissed, the sheet resists.
            const up = Math.max(y, start - largest) - above / 6
            const isHeld = !this.isDismissible && y > 0 && this.#detent === this.#detents[0]
            this.#offset = isHeld ? y / 6 : up
            this.panel.style.setProperty('transform', `translateY(${Math.max(0, this.#offset)}px)`)
            if (this.#offset < 0) this.panel.style.setProperty('height', `${start - this.#offset}px`)
            else this.panel.style.removeProperty('height')
        }
        const settle = detent => {
            const from = start - this.#offset
            const to = this.#height(detent)
            this.#offset = 0
            this.#detent = detent
            this.#drawGrabber()
            this.panel.style.removeProperty('transform')
            this.panel.style.removeProperty('height')
            play([[this.panel, [{ transform: `translateY(${to - from}px)` }, { transform: 'none' }], null]], 300, release)
        }
        return {
            axis: /** @type {'y'} */ ('y'),
            started: () => { release = this.device.hold() },
            moved: (x, y) => place(y),
            ended: (x, y, velocityX, velocityY) => {
                place(y)
                const visible = start - this.#offset
                const isThrown = velocityY > flick && this.#detent === this.#detents[0]
                if (this.isDismissible && (visible < height * dismissBelow || isThrown)) return this.#throwOut(release)
                // A flick leads to the next detent in its direction, otherwise the nearest one is taken.
                const heights = this.#detents.map(name => Math.abs(this.#height(name) - visible + velocityY * 150))
                settle(this.#detents[heights.indexOf(Math.min(...heights))])
            },
            cancelled: () => settle(this.#detent),
        }
    }

    /** Completes a dismissal by drag. The device removes the element when its scene no longer contains it. */
    #throwOut(release) {
        const from = this.panel.style.transform || 'none'
        play([
            [this.panel, [{ transform: from }, { transform: 'translateY(105%)' }], 'out'],
            [this.scrim, [{ opacity: 1 }, { opacity: 0 }], 'out'],
        ], 250, () => {
            this.#dragged = true
            this.hidden = true
            this.device.dismiss(this.instance)
            release()
        })
    }

    #height(detent) {
        const height = this.device.stage.clientHeight
        return detent === 'medium' ? height / 2 : height - this.device.topInset
    }

    #snap(detent) {
        const from = this.panel.offsetHeight
        this.#detent = detent
        this.#drawGrabber()
        const to = this.#height(detent)
        play([[this.panel, [{ transform: `translateY(${to - from}px)` }, { transform: 'none' }], null]], 300)
    }

    // MARK: Alerts and dialogs

    #buildQuestion(label) {
        const description = uniqueID()
        this.questionTitle = make('h2', 'question-title', { id: label, tabindex: '-1' })
        this.questionText = make('p', 'question-text', { id: description })
        this.buttons = make('div', 'buttons')
        this.panel.setAttribute('aria-labelledby', label)
        this.panel.setAttribute('aria-describedby', description)
        this.panel.append(make('div', 'question', {}, this.questionTitle, this.questionText), this.buttons)
    }

    #drawQuestion(presentation, { content, title }) {
        put(this.questionTitle, presentation.title ?? title)
        const sections = Array.isArray(content?.sections) ? content.sections : []
        const rows = sections.flatMap(section => section?.rows ?? []).map(row => row?.title)
        put(this.questionText, presentation.message ?? (presentation.title == null ? rows.join('\n') : ''))
        this.questionText.hidden = !this.questionText.textContent
        const chosen = Array.isArray(content?.actions) ? content.actions.filter(action => action) : []
        const actions = chosen.length
            ? chosen.map((action, index) => ({ ...action, role: presentation.buttons[index]?.role ?? action.role }))
            // The choices have not come yet, or a question without buttons can only be dismissed.
            : presentation.buttons.length
                ? presentation.buttons.map(item => ({ label: item.title, role: item.role, choice: null }))
                : this.isDismissible ? [{ label: 'OK', dismisses: true }] : []
        this.panel.classList.toggle('pair', actions.length === 2)
        reconcile(this.buttons, actions, action => asName(action.label), () => {
            const element = /** @type {any} */ (button('', () => {
                if (element.choice) this.device.choose(element.choice, element)
                else this.requestDismissal()
            }, 'answer'))
            element.dataset.choice = ''
            element.label = make('bdi')
            element.append(element.label, make('span', 'spinner', { 'aria-hidden': 'true' }))
            return element
        }, (element, action) => {
            put(element.label, action.label)
            element.choice = action.choice ?? null
            element.disabled = !action.dismisses && (this.device.readOnly || !action.choice)
            element.dataset.role = asName(action.role)
            setAttribute(element, 'aria-busy', this.device.isBusy(element.choice) ? 'true' : null)
        })
    }

    // MARK: Popovers

    /** Puts the popover beside the control that opened it, where there is more room, with the arrow at its middle. */
    #placePopover() {
        if (this.kind !== 'popover' || !this.isConnected) return
        const stage = this.getBoundingClientRect()
        const anchor = (this.#anchor?.isConnected ? this.#anchor : this.device.bottomControl()) ?? this.device.stage
        const target = anchor.getBoundingClientRect()
        const [width, height] = [this.panel.offsetWidth, this.panel.offsetHeight]
        const middle = Math.min(Math.max(target.left + target.width / 2 - stage.left, 0), stage.width)
        const left = Math.min(Math.max(middle - width / 2, 10), Math.max(10, stage.width - width - 10))
        const roomBelow = stage.bottom - target.bottom
        const roomAbove = target.top - stage.top
        const isBelow = roomBelow >= height + 16 || roomBelow >= roomAbove
        const wanted = isBelow ? target.bottom - stage.top + 10 : target.top - stage.top - height - 10
        const top = Math.min(Math.max(wanted, 8), Math.max(8, stage.height - height - 8))
        this.panel.style.setProperty('left', `${left}px`)
        this.panel.style.setProperty('top', `${top}px`)
        this.panel.style.setProperty('--arrow', `${Math.min(Math.max(middle - left, 24), width - 24)}px`)
        this.panel.classList.toggle('below', isBelow)
        // An arrow that would not point at the control is worse than none.
        this.arrow.hidden = Math.abs(top - wanted) > 4
    }
}

customElements.define('segue-presentation', SeguePresentation)
