// @ts-check
import './segue-banner.js'
import './segue-caption.js'
import './segue-choice-form.js'
import './segue-notes.js'
import './segue-presentation.js'
import './segue-root.js'
import './segue-screen.js'
import './segue-stack.js'
import { Choices } from './choices.js'
import { Departures } from './departures.js'
import { asName, asText, make, put, setAttribute } from './render.js'
import { Reports } from './reports.js'
import { front, read, standing, without } from './state.js'
import { openRequested } from './url.js'

/** The longest wait for a frame, in milliseconds. */
const frameLimit = 250

/**
 * A device: draws the scenes of one platform and session, and reports what a person does. Its document changes only
 * while nothing moves: updates that come during an animation or a gesture are drawn after it.
 */
export class SegueDevice extends HTMLElement {
    /** @type {{platform: string, session: string, device: string, resumed: boolean}} */
    options = { platform: '', session: 'default', device: '', resumed: false }
    /** @type {import('../connection.js').Connection | null} */
    connection = null

    #scene = null
    #screens = {}
    /** The ids of the screens of the last scene. */
    #opened = new Set()
    #banner = null
    #error = ''
    /** @type {import('../connection.js').OpenView | null} */
    #view = null
    /** @type {Reports | null} */
    #reports = null
    #held = 0
    #isQueued = false
    #isDirty = false
    #departures = new Departures(() => this.#schedule())
    #choices = new Choices(() => this.#drawBusy())
    /** What is to be done when the animations of the next drawing have ended. */
    #afterRender = []
    #root = null
    #rootKey = ''
    /** @type {Map<string, any>} */
    #presentations = new Map()
    /** The control that a person used last: a popover points at it. */
    #control = null
    #raised = 10
    /** The id of the screen in front when the focus was last looked after. */
    #front = ''
    /** The presentation that came with the last drawing. */
    #entered = null

    connectedCallback() {
        if (!this.frame) this.#build()
        this.connection?.addEventListener('change', this.#connectionChanged)
        this.#view = this.connection?.open({ kind: 'device', ...this.options }, update => this.#receive(update)) ?? null
        if (this.#view) this.#reports = new Reports(this.#view)
        // An element that is moved in the document is connected again, but was launched before.
        this.options = { ...this.options, resumed: true }
        this.#schedule()
    }

    disconnectedCallback() {
        this.connection?.removeEventListener('change', this.#connectionChanged)
        const [view, reports] = [this.#view, this.#reports]
        // A swipe that ends with the device is reported as cancelled after this method; the view has to stay until then.
        queueMicrotask(() => reports?.settled().finally(() => view?.close()))
        this.#departures.stop()
        this.#choices.stop()
    }

    get isWindow() { return /mac|desktop|windows/i.test(this.options.platform) }
    get readOnly() { return this.connection?.readOnly ?? true }
    /** The height above a large sheet. */
    get topInset() { return this.isWindow ? 24 : this.statusBar.offsetHeight + 10 }

    #build() {
        const { platform, session } = this.options
        this.setAttribute('role', 'region')
        // A click beside a control keeps the focus in the device.
        this.tabIndex = -1
        this.setAttribute('aria-label', `Device ${asName(platform)}, session ${asName(session)}`)
        this.classList.toggle('is-window', this.isWindow)
        this.statusBar = make('div', 'status-bar', { 'aria-hidden': 'true' }, make('span', '', {}, '9:41'))
        this.windowTitle = make('bdi')
        const lights = ['', '', ''].map(() => make('span', 'light'))
        this.titleBar = make('div', 'title-bar', { 'aria-hidden': 'true' }, ...lights, this.windowTitle)
        this.placeholder = make('div', 'device-waiting', { role: 'status' },
            make('p', 'waiting-title'), make('p', 'waiting-text'))
        this.stage = make('div', 'stage', {}, this.placeholder)
        this.bannerElement = make('segue-banner')
        this.bannerElement.device = this
        this.notes = make('segue-notes')
        this.frame = make('div', `frame ${this.isWindow ? 'window-frame' : 'phone-frame'}`, {},
            this.isWindow ? this.titleBar : this.statusBar, this.stage, make('div', 'home', { 'aria-hidden': 'true' }))
        this.desk = make('div', 'desk', {}, this.frame)
        // Above the other windows, which lie beside the frame.
        ;(this.isWindow ? this.desk : this.frame).append(this.bannerElement, this.notes)
        this.caption = make('segue-caption')
        this.append(this.desk, this.caption)
        this.addEventListener('keydown', event => this.#key(event))
    }

    // MARK: Updates

    #connectionChanged = () => { this.#schedule() }

    #receive(update) {
        if (!update || typeof update !== 'object') return
        if (update.error) this.#error = asText(update.error.message)
        if ('scene' in update) {
            this.#error = ''
            this.#scene = update.scene
        }
        if (update.screens && typeof update.screens === 'object') this.#screens = { ...this.#screens, ...update.screens }
        if ('banner' in update) this.#banner = update.banner
        if ('scene' in update || update.note || update.url || 'banner' in update) this.#choices.followed()
        if (update.note) this.notes.receive(update.note)
        if (update.url) openRequested(update.url, link => this.notes.offer(link))
        if (update.pulse) this.caption.pulse()
        this.#schedule()
    }

    #schedule() {
        if (this.#isQueued) return
        this.#isQueued = true
        const flush = () => { if (this.#isQueued) this.#flush() }
        requestAnimationFrame(flush)
        // A tab in the background gets no frames; it still has to follow the scene, or its reports would stop.
        setTimeout(flush, frameLimit)
    }

    async #flush() {
        this.#isQueued = false
        if (!this.isConnected) return
        if (this.#held > 0) {
            this.#isDirty = true
            return
        }
        const release = this.hold()
        const scene = this.#scene
        const hadFocus = this.contains(document.activeElement)
        try {
            await Promise.allSettled(this.#draw())
        } catch (error) {
            // A scene that cannot be drawn must not stop the following ones.
            console.error(error)
        }
        const formerFront = this.#front
        this.#front = this.#frontOf(scene)
        if (hadFocus && (this.#entered || formerFront !== this.#front || !this.contains(document.activeElement))) {
            this.#restoreFocus()
        }
        this.#entered = null
        for (const action of this.#afterRender.splice(0)) action()
        if (scene && this.isConnected) {
            this.#reports?.displayed(scene.revision)
            this.#reports?.gone(read(scene.state)?.leaving ?? [])
        }
        release()
    }

    /** Keeps updates from being drawn until the returned function is called. */
    hold() {
        this.#held += 1
        let isHeld = true
        return () => {
            if (!isHeld) return
            isHeld = false
            this.#held -= 1
            if (this.#held === 0 && this.#isDirty) {
                this.#isDirty = false
                this.#schedule()
            }
        }
    }

    // MARK: Drawing

    /** @returns {Promise<any>[]} the animations */
    #draw() {
        const actual = this.#scene ? read(this.#scene.state) : null
        const open = actual ? standing(actual) : new Set()
        this.#departures.follow(open, actual)
        this.drawBanner()
        this.#drawPlaceholder(actual)
        this.caption.update(this.options, this.#scene, actual)
        if (!actual) {
            this.#clear()
            return []
        }
        const model = without(actual, this.#departures.ids)
        const animations = [...this.#drawRoot(model), ...this.#drawPresentations(model)]
        this.#drawCovered(model)
        put(this.windowTitle, asName(this.#titleOf(front({ ...model, presentations: [] }))))
        // Only contents of screens that were open: those of a screen to come may arrive before its scene.
        for (const id of this.#opened) if (!open.has(id) && !actual.leaving.includes(id)) delete this.#screens[id]
        this.#opened = new Set([...open, ...actual.leaving])
        return animations
    }

    #drawRoot(model) {
        const key = `${model.kind} ${model.root.id}`
        const former = key === this.#rootKey ? null : this.#root
        const isNew = key !== this.#rootKey
        if (isNew) {
            this.#root = make('segue-root')
            this.#root.build(model.kind, this)
            this.#rootKey = key
            if (former) former.after(this.#root)
            else this.stage.prepend(this.#root)
        }
        const selected = this.#departures.tab ?? model.selected
        const animations = this.#root.update(
            model, selected, index => this.#describe(model, index), name => this.#scene.screenTitles?.[name],
            this.#screens[model.root.id])
        if (former) {
            former.inert = true
            animations.push(this.#root.enter().then(() => former.remove()))
        }
        return animations
    }

    /** Makes the function that tells what a screen of a stack, or of a presentation, shows. */
    #describe(model, index, presentation = null) {
        const scene = this.#scene
        const next = presentation || model.kind !== 'split' ? null : model.stacks[index + 1]?.instances.at(-1)
        const closes = presentation && !this.readOnly && scene.dismissible?.includes?.(presentation.id) === true
            && (presentation.style === 'sheet' || presentation.style === 'popover')
        return (screen, below) => ({
            content: this.#screens[screen.id] ?? null,
            title: this.#titleOf(screen),
            covered: scene.front?.includes?.(screen.id) !== true,
            previous: below ? this.#titleOf(below) : null,
            back: below !== null && scene.back?.[screen.id] === true,
            close: closes === true,
            waiting: scene.waiting != null,
            // The row of a list that has led to the column beside it is marked.
            current: next ? this.#screens[next.id]?.title : null,
        })
    }

    #titleOf(screen) {
        return this.#screens[screen.id]?.title || this.#scene?.screenTitles?.[screen.screen] || screen.screen || 'Untitled'
    }

    #drawPresentations(model) {
        const animations = []
        const wanted = new Set(model.presentations.map(presentation => presentation.id))
        for (const [id, element] of this.#presentations) {
            if (wanted.has(id)) continue
            this.#presentations.delete(id)
            animations.push(element.leave())
        }
        let host = this.stage
        for (const presentation of model.presentations) {
            const isOwnWindow = presentation.style === 'window' && this.isWindow
            const style = presentation.style === 'window' && !this.isWindow ? 'fullScreen' : presentation.style
            let element = this.#presentations.get(presentation.id)
            const isNew = !element
            if (!element) {
                element = make('segue-presentation')
                element.build(style, presentation.id, this, this.#control)
                this.#presentations.set(presentation.id, element)
                ;(isOwnWindow ? this.desk : host).append(element)
            }
            if (isOwnWindow) host = element.nested
            const base = presentation.instances[0]
            const question = { content: this.#screens[base.id] ?? null, title: this.#titleOf(base) }
            const isDismissible = !this.readOnly && this.#scene.dismissible?.includes?.(presentation.id) === true
            const animation = element.update(presentation, question, isDismissible, this.#describe(model, 0, presentation))
            if (animation) animations.push(animation)
            if (!isNew) continue
            if (isOwnWindow) this.#placeWindow(element)
            this.#entered = element
            animations.push(element.enter())
            if (element.isQuestion && !this.contains(document.activeElement)) {
                this.notes.announce(`${asName(presentation.title ?? question.title)}. ${asName(presentation.message)}`)
            }
        }
        return animations
    }

    /** Within one window only the frontmost layer can be used; other windows are not covered. */
    #drawCovered(model) {
        let layers = [this.#root]
        const groups = [layers]
        for (const presentation of model.presentations) {
            const element = this.#presentations.get(presentation.id)
            if (presentation.style === 'window' && this.isWindow) {
                layers = [element.stack]
                groups.push(layers)
            } else {
                layers.push(element)
            }
        }
        for (const group of groups) group.forEach((element, index) => { element.inert = index < group.length - 1 })
    }

    drawBanner() { this.bannerElement.update(this.#banner) }

    #drawPlaceholder(actual) {
        this.placeholder.hidden = actual !== null
        if (actual) return
        const [title, text] = this.placeholder.children
        const { platform, session } = this.options
        const state = this.connection?.state
        if (this.#error) {
            put(title, 'This device cannot be shown')
            put(text, this.#error)
        } else if (!state?.live) {
            put(title, 'Connecting')
            put(text, 'The page waits for the gateway.')
        } else if (state.bus === 'away') {
            put(title, 'The bus is away')
            put(text, 'The screens appear when the gateway has reached the bus again.')
        } else {
            put(title, `Waiting for the ${asName(platform)} coordinator`)
            put(text, `It has not published a navigation state for the session “${asName(session)}” yet.`)
        }
    }

    #clear() {
        for (const element of this.#presentations.values()) element.remove()
        this.#presentations.clear()
        this.#root?.remove()
        this.#root = null
        this.#rootKey = ''
    }

    #placeWindow(element) {
        const count = [...this.#presentations.values()].filter(other => other.kind === 'window').length
        // At the right, where it covers least of a list, and each a little lower than the one before.
        element.moveTo(this.desk.clientWidth - element.offsetWidth - 20 - 24 * (count % 3), 24 + 36 * count)
        this.raise(element)
    }

    /** Brings a window to the front of the device. */
    raise(element) {
        if (element.style.zIndex !== String(this.#raised)) element.style.setProperty('z-index', String(this.#raised += 1))
    }

    // MARK: Focus

    #frontOf(scene) {
        const model = scene ? read(scene.state) : null
        return model ? front(without(model, this.#departures.ids)).id : ''
    }

    /** Focus that was on a screen which is now covered or gone moves to the screen in front. */
    #restoreFocus() {
        const active = document.activeElement
        const top = [...this.#presentations.values()].at(-1)
        const isWithin = this.contains(active)
        const isNew = top === this.#entered && top !== undefined
        if (isWithin && active !== this && !isNew && (!top || top.contains(active) || top.kind === 'window')) return
        if (!isWithin && active && active !== document.body) return
        if (top?.isQuestion) {
            // Not the button that cannot be undone.
            const answers = [...top.buttons.querySelectorAll('button:enabled')]
            const target = answers.find(answer => answer.dataset.role !== 'destructive') ?? answers[0] ?? top.questionTitle
            target.focus({ preventScroll: true })
            return
        }
        const stack = top?.stack ?? this.#root?.stacks.filter(candidate => candidate.top?.offsetParent).at(-1)
        const screen = stack?.top
        const last = screen?.lastFocus
        const target = last?.isConnected && last.offsetParent && !last.disabled ? last : screen?.heading
        target?.focus({ preventScroll: true })
    }

    #key(event) {
        if (event.key !== 'Escape' || event.defaultPrevented) return
        const all = [...this.#presentations.values()]
        // Within a window, Escape is for what that window presents, then for the window itself.
        const own = all.filter(element => element.kind === 'window' && element.contains(event.target)).at(-1)
        const top = own ? all.filter(element => own.contains(element)).at(-1) : all.filter(element => this.stage.contains(element)).at(-1)
        if (!top) return
        event.preventDefault()
        top.requestDismissal()
    }

    /** The control on the main screen that most probably has opened a popover. */
    bottomControl() {
        const screen = this.#root?.stacks.at(-1)?.top
        return screen?.querySelector('.foot [data-role=primary], .foot button') ?? screen?.heading ?? null
    }

    // MARK: What a person does

    canGoBack(instance) {
        return !this.readOnly && this.#scene?.back?.[instance] === true && !this.#departures.has(instance)
    }

    /** @returns {boolean} true if a back swipe can start on this screen */
    canSwipe(instance) { return !this.isWindow && this.#held === 0 && this.canGoBack(instance) }

    /** The back button: the screen moves out first, because the report says that it is no longer shown. */
    goBack(instance) {
        if (this.canGoBack(instance)) this.#takeAway(instance, () => this.#reports?.back('completed', instance))
    }

    /** The reports of a swipe. @param {'started' | 'cancelled' | 'completed'} phase @param {string} instance */
    reportBack(phase, instance) {
        if (phase !== 'completed') this.#reports?.back(phase, instance).catch(() => {})
        else this.#takeAway(instance, () => this.#reports?.back(phase, instance))
    }

    dismiss(instance) {
        if (!this.#departures.has(instance)) this.#takeAway(instance, () => this.#reports?.dismissed(instance))
    }

    /** Dismisses the presentation in which a screen lies. */
    dismissLayer(screen) { screen.closest('segue-presentation')?.requestDismissal() }

    selectTab(name) {
        const model = this.#scene ? read(this.#scene.state) : null
        if (this.readOnly || !model || model.kind !== 'tabs' || (this.#departures.tab ?? model.selected) === name) return
        this.#departures.select(name, model.root.id, this.#reports?.tab(name, model.root.id))
        this.#schedule()
    }

    /** Hides an instance before the scene follows, and reports it when the animation has ended. */
    #takeAway(instance, report) {
        this.#departures.add(instance)
        this.#afterRender.push(() => this.#departures.reported(instance, report()))
        this.#schedule()
    }

    // MARK: Choices

    isBusy(choice) { return this.#choices.isBusy(choice) }

    /** @returns {Promise<string | null>} why the choice was refused; null if it was sent, or is being sent already */
    async choose(choice, control, fields, isQuiet = false) {
        const reports = this.#reports
        if (!choice || this.readOnly || this.isBusy(choice) || !reports) return null
        this.#control = control ?? null
        try {
            await this.#choices.begin(choice, () => reports.choose(choice, fields))
            return null
        } catch (error) {
            // A form shows the refusal itself.
            if (!isQuiet) this.notes.say(error.message)
            return asText(error.message)
        }
    }

    #drawBusy() {
        for (const element of this.querySelectorAll('[data-choice], .banner-card .dismiss')) {
            setAttribute(element, 'aria-busy', this.isBusy(/** @type {any} */ (element).choice) ? 'true' : null)
        }
    }
}

customElements.define('segue-device', SegueDevice)
