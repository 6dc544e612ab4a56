import { button, h, put, setText, unspoken } from '../elements/dom.js'
import { shortened } from '../elements/text.js'
import './segue-banner.js'
import './segue-caption.js'
import './segue-notes.js'
import './segue-presentation.js'
import './segue-root.js'
import './segue-screen.js'
import './segue-stack.js'
import { Choices } from './choices.js'
import { Departures } from './departures.js'
import { Layers } from './layers.js'
import { previews } from './previews.js'
import { Reports } from './reports.js'
import { front, instances, read, standing, without } from './state.js'
import { openRequested } from './open-url.js'

const frameLimit = 250

/** Draws the scenes of one platform and session. Updates during an animation or a gesture are drawn after it. */
class SegueDevice extends HTMLElement {
  options = { platform: '', session: 'default', device: '', resumed: false }
  connection

  #scene = null
  #model = null
  #screens = {}
  #opened = new Set()
  #banner = null
  #isLaunching = false
  #hasEnded = false
  #problem = ''
  #reports
  #view
  #held = 0
  #isDirty = false
  #departures = new Departures(() => this.#schedule())
  #choices = new Choices(() => this.#drawBusy())
  #afterDrawing = []
  #root = null
  #layers = new Layers(this)
  #control = null

  connectedCallback() {
    if (!this.stage) this.#build()
    this.connection.addEventListener('change', this.#schedule)
    this.#open()
  }

  #open() {
    this.#isLaunching = !this.options.resumed
    this.#view = this.connection.open({ kind: 'device', ...this.options }, update => this.#receive(update))
    this.#reports = new Reports(this.#view)
    // An element that is moved is connected again, but was launched before.
    this.options = { ...this.options, resumed: true }
    this.#schedule()
  }

  /** Only a person begins an ended session again: otherwise none could end while a page is open. */
  #startAgain() {
    this.#view.close()
    this.options = { ...this.options, resumed: false }
    this.#open()
  }

  disconnectedCallback() {
    this.connection.removeEventListener('change', this.#schedule)
    const [view, reports] = [this.#view, this.#reports]
    // A swipe is reported as cancelled after this method: until then the view stays open.
    queueMicrotask(() => reports.settled().finally(() => view.close()))
    this.#departures.stop()
    this.#choices.stop()
  }

  get isWindow() { return /mac|desktop|windows/i.test(this.options.platform) }
  get readOnly() { return this.connection.readOnly }
  get topInset() { return this.bar.offsetHeight + 10 }

  #build() {
    const { isWindow } = this
    const { platform, session } = this.options
    this.role = 'region'
    this.ariaLabel = `Device ${shortened(platform)}, session ${shortened(session)}`
    // A click beside a control keeps the focus here.
    this.tabIndex = -1
    this.classList.toggle('is-window', isWindow)
    this.windowTitle = h('bdi')
    this.bar = isWindow
      ? unspoken('div.title-bar', h('i.light'), h('i.light'), h('i.light'), this.windowTitle)
      : unspoken('div.status-bar', '9:41')
    this.placeholder = h('div.device-waiting', { role: 'status' }, h('p.waiting-title'), h('p.waiting-text'),
      button('Start again', () => this.#startAgain(), { class: 'action' }))
    this.stage = h('div.stage', this.placeholder)
    this.banner = Object.assign(h('segue-banner'), { device: this })
    this.notes = h('segue-notes')
    this.caption = h('segue-caption')
    const frame = h(isWindow ? 'div.frame.window-frame' : 'div.frame.phone-frame', this.bar, this.stage,
      !isWindow && h('div.home'))
    this.desk = h('div.desk', frame)
    ;(isWindow ? this.desk : frame).append(this.banner, this.notes)
    this.append(this.desk, this.caption)
    this.caption.build(platform)
    this.addEventListener('keydown', event => this.#layers.escape(event))
  }

  // MARK: Updates

  #receive(update) {
    if (update.error) this.#problem = update.error.message
    if ('scene' in update) {
      this.#problem = ''
      this.#hasEnded = !update.scene && (this.#hasEnded || this.#scene !== null)
      this.#isLaunching &&= !update.scene
      this.#scene = update.scene
      this.#model = update.scene && read(update.scene.state)
    }
    Object.assign(this.#screens, update.screens)
    if ('banner' in update) this.#banner = update.banner
    if ('scene' in update || 'banner' in update || update.note || update.url) this.#choices.followed()
    if (update.note) this.notes.receive(update.note)
    if (update.url) openRequested(update.url, link => this.notes.offer(link))
    if (update.pulse) this.caption.pulse()
    this.#schedule()
  }

  #schedule = () => {
    if (this.#isDirty) return
    this.#isDirty = true
    this.#requestFrame()
  }

  #requestFrame() {
    const draw = () => { if (this.#isDirty && !this.#held && this.isConnected) this.#flush() }
    requestAnimationFrame(draw)
    // A tab in the background gets no frames, but has to follow the scene, or its reports would stop.
    setTimeout(draw, frameLimit)
  }

  async #flush() {
    this.#isDirty = false
    const release = this.hold()
    const [scene, model] = [this.#scene, this.#model]
    const formerTop = this.#screenInFront
    const hadFocus = this.contains(document.activeElement)
    try {
      await Promise.allSettled(this.#draw())
    } catch (error) {
      console.error(error)
    }
    const isChanged = this.#layers.hasEntered || formerTop !== this.#screenInFront
    if (hadFocus && (isChanged || !this.contains(document.activeElement))) this.#layers.restoreFocus(this.#root)
    for (const report of this.#afterDrawing.splice(0)) report()
    if (scene && model && this.isConnected) {
      this.#reports.displayed(scene.revision)
      this.#reports.gone(model.leaving)
    }
    release()
  }

  /** Updates are not drawn until the returned function is called, once. */
  hold() {
    this.#held += 1
    return () => {
      this.#held -= 1
      if (!this.#held && this.#isDirty) this.#requestFrame()
    }
  }

  // MARK: Drawing

  #draw() {
    const model = this.#model
    const open = model ? standing(model) : new Set()
    this.#departures.follow(open, model)
    this.drawBanner()
    this.#drawPlaceholder()
    this.caption.update(this.options, this.#scene, model)
    if (!model) {
      this.#layers.clear()
      this.#root?.remove()
      this.#root = null
      return []
    }
    const shown = without(model, this.#departures.ids)
    const animations = [...this.#drawRoot(shown), ...this.#layers.draw(shown, this.#root, this.#control)]
    setText(this.windowTitle, shortened(this.#titleOf(front({ ...shown, presentations: [] }))))
    // The contents of a screen to come may arrive before its scene.
    const present = open.union(new Set(model.leaving))
    for (const id of this.#opened.difference(present)) delete this.#screens[id]
    this.#opened = present
    for (const { id, screen } of instances(model)) previews.put(this.options.platform, screen, this.#screens[id])
    const awaited = this.#choices.takeAwaited()
    if (awaited) this.press(awaited)
    this.#drawBusy()
    return animations
  }

  #drawRoot(model) {
    const former = this.#root
    const isSame = former?.shows(model)
    if (!isSame) {
      this.#root = h('segue-root')
      this.#root.build(model, this)
      if (former) former.after(this.#root)
      else this.stage.prepend(this.#root)
    }
    this.#root.inert = false
    const animations = this.#root.update(model, this.#departures.tab ?? model.selected)
    if (isSame || !former) return animations
    former.inert = true
    return [...animations, this.#root.enter().then(() => former.remove())]
  }

  /** The row that has led to `beside`, in the next column, is marked. */
  describe = (screen, below, beside) => ({
    content: this.#screens[screen.id] ?? null,
    title: this.#titleOf(screen),
    previous: below && this.#titleOf(below),
    back: below !== null && this.#scene.back[screen.id] === true,
    isWaiting: this.#scene.waiting != null,
    isComing: screen.id === this.#screenInFront && !this.#scene.front.includes(screen.id),
    current: beside && this.#screens[beside.id]?.title,
  })

  #titleOf(screen) {
    return this.#screens[screen.id]?.title || this.#scene.screenTitles[screen.screen] || screen.screen || 'Untitled'
  }

  tabTitle(name) { return this.#scene.screenTitles[name] ?? name }

  drawBanner() { this.banner.update(this.#banner) }

  #drawPlaceholder() {
    this.placeholder.hidden = this.#scene !== null
    const { platform, session } = this.options
    const { live, bus } = this.connection.state
    const texts = this.#problem ? ['This device cannot be shown', this.#problem]
      : !live ? ['Connecting', 'The page waits for the gateway.']
      : bus === 'away' ? ['The bus is away', 'The screens appear when the gateway has reached the bus again.']
      : this.#hasEnded ? ['The session has ended', `The session “${shortened(session)}” has no screens now.`]
      : [`Waiting for the ${shortened(platform)} coordinator`,
        `It has not published a navigation state for the session “${shortened(session)}” yet.`]
    texts.forEach((text, index) => put(this.placeholder.children[index], text))
    this.placeholder.lastChild.hidden = this.readOnly || this.#isLaunching || !!this.#problem || !live || bus === 'away'
  }

  get #screenInFront() { return this.#model && front(without(this.#model, this.#departures.ids)).id }

  bottomControl() {
    const screen = this.#root?.stacks.at(-1)?.top
    return screen?.querySelector('.foot [data-role=primary], .foot button') ?? screen?.heading ?? null
  }

  raise(element) { this.#layers.raise(element) }

  // MARK: What a person does

  isDismissible(instance) { return !this.readOnly && this.#scene.dismissible.includes(instance) }

  dismissLayer(screen) { screen.closest('segue-presentation').requestDismissal() }

  dismiss(instance) { this.#takeAway(instance, { dismissed: instance }) }

  #canGoBack(instance) {
    return !this.readOnly && this.#scene?.back[instance] === true && !this.#departures.has(instance)
  }

  canSwipe(instance) { return !this.isWindow && !this.#held && this.#canGoBack(instance) }

  /** The screen moves out first, because the report says that it is no longer shown. */
  goBack(instance) { if (this.#canGoBack(instance)) this.reportBack('completed', instance) }

  reportBack(back, instance) {
    if (back === 'completed') this.#takeAway(instance, { back, instance })
    else this.#reports.report({ back, instance }).catch(() => {})
  }

  selectTab(tab) {
    const model = this.#model
    if (this.readOnly || !model || this.#departures.tab === tab) return
    const { id } = model.root
    if ((this.#departures.tab ?? model.selected) === tab) {
      this.#reports.tapped(tab, id).catch(() => {})
      return
    }
    this.#departures.select(tab, id, this.#reports.report({ tab, instance: id }))
    this.#schedule()
  }

  #takeAway(instance, report) {
    if (this.#departures.has(instance)) return
    this.#departures.add(instance)
    this.#afterDrawing.push(() => this.#departures.reported(instance, this.#reports.report(report)))
    this.#schedule()
  }

  // MARK: Choices

  press = async button => {
    if (button.ariaDisabled) return null
    if (!button.choice) return this.#choices.awaitChoice(button)
    const refusal = await this.choose(button.choice, button, button.fields)
    if (refusal) this.notes.say(refusal)
    return refusal
  }

  /** Returns a refusal; null if the choice was sent, or is being sent already. */
  async choose(choice, control, fields) {
    if (this.readOnly || !choice) return null
    this.#control = control
    try {
      await this.#choices.begin(choice, () => this.#reports.choose(choice, fields))
      return null
    } catch (error) {
      return error.message
    }
  }

  #drawBusy() {
    for (const button of this.querySelectorAll('[data-choice]')) {
      button.ariaBusy = this.#choices.isBusy(button) ? 'true' : null
    }
  }
}

customElements.define('segue-device', SegueDevice)
