import { button, h, iconButton, put, reconcile, setText, uniqueID, unspoken } from '../elements/dom.js'
import { count, shortened } from '../elements/text.js'
import { ChoiceForm } from './choice-form.js'
import { choiceButton } from './choices.js'
import { ProgressText } from './progress.js'

/** A section shows so many rows at first; a button shows as many again. */
const rowPage = 200
const skeletonRows = 5
/** Texts would have no room deeper in a tree. */
const deepest = 8
/** With a longer title, the back button says only "Back". */
const longestBack = 14

/** One screen: it draws contents and reports choices. */
class SegueScreen extends HTMLElement {
  device = null
  instance = ''
  lastFocus = null

  connectedCallback() {
    if (this.bar) return
    const id = uniqueID()
    this.role = 'group'
    this.setAttribute('aria-labelledby', id)
    this.backText = h('bdi')
    this.backButton = h('button.back', { onclick: () => this.device.goBack(this.instance) },
      h('span.chevron'), this.backText)
    this.barTitle = unspoken('bdi.bar-title')
    this.closeButton = iconButton('×', 'Close', () => this.device.dismissLayer(this), 'close')
    this.bar = h('div.bar', this.backButton, this.barTitle, this.closeButton)
    this.heading = h('h2.title', { id, tabindex: -1 })
    this.sections = h('div.sections')
    this.forms = h('div.forms')
    this.list = h('ul.rows.actions-list')
    this.scroller = h('div.scroll', this.heading, this.sections, this.forms, this.list)
    this.foot = h('div.foot')
    this.append(this.bar, this.scroller, this.foot)
    this.scroller.addEventListener('scroll', () => {
      this.classList.toggle('scrolled', this.scroller.scrollTop > this.heading.offsetHeight - 8)
    }, { passive: true })
    this.addEventListener('focusin', event => { this.lastFocus = event.target })
  }

  update(update) {
    const { content, title, isWaiting } = update
    put(this.heading, title)
    setText(this.barTitle, shortened(title))
    this.backButton.hidden = !update.back
    this.backButton.disabled = this.device.readOnly
    const previous = shortened(update.previous)
    setText(this.backText, previous && previous.length <= longestBack ? previous : 'Back')
    this.backButton.ariaLabel = previous && `Back to ${previous}`
    this.closeButton.hidden = !update.close
    const isLoading = content?.loading ?? true
    const total = content?.sections.reduce((sum, section) => sum + section.rows.length, 0) ?? 0
    this.ariaBusy = isLoading || isWaiting ? 'true' : null
    this.classList.toggle('waiting', isWaiting || (isLoading && total > 1))
    this.#drawSections(content?.sections ?? [], isLoading && total < 2, update)
    this.#drawActions(content?.actions ?? [], update.isComing)
    // The keyboard can scroll only what can take the focus.
    if (this.scroller.querySelector('button:not([hidden]), summary')) this.scroller.removeAttribute('tabindex')
    else this.scroller.tabIndex = 0
  }

  #drawSections(sections, hasSkeleton, update) {
    const shown = hasSkeleton ? [...sections, null] : sections
    reconcile(this.sections, shown, section => section ? 'section' : 'skeleton',
      section => section ? newSection() : skeleton(),
      (element, section) => {
        if (!section) return
        element.draw = () => this.#drawSection(element, section, update)
        element.draw()
      })
  }

  #drawSection(element, { header, footer, numbered, rows }, update) {
    put(element.header, header)
    put(element.footer, footer)
    element.classList.toggle('text', rows.length < 4 && !numbered
      && rows.every(row => !isButton(row) && !row.depth && row.subtitle == null && row.detail == null
      && row.progress == null))
    reconcile(element.list, rows.slice(0, element.limit),
      row => `${isButton(row)} ${row.progress != null} ${row.title.slice(0, 100)}`, row => this.#newRow(row),
      (item, row, index) => this.#drawRow(item, row, numbered ? String(index + 1) : '', update))
    const left = rows.length - element.limit
    element.more.hidden = left <= 0
    setText(element.more, `Show more (${count(left)} left)`)
  }

  #newRow(row) {
    const [number, title, subtitle, detail] =
      [h('span.number'), h('bdi.row-title'), h('bdi.subtitle'), h('bdi.detail')]
    const progress = row.progress ? new ProgressText() : null
    const content = [number, h('span.texts', title, subtitle), detail, progress?.element]
    const body = isButton(row) ? choiceButton(this.device.press, 'row', ...content) : h('div.row', ...content)
    if (isButton(row)) body.append(h('span.chevron'))
    return Object.assign(h('li', body), { body, number, heading: title, subtitle, detail, progress })
  }

  #drawRow(item, row, number, { current, isComing }) {
    put(item.heading, row.title)
    put(item.subtitle, row.subtitle)
    put(item.detail, row.detail)
    item.progress?.update(row.progress)
    setText(item.number, number)
    const { body } = item
    body.style.setProperty('--depth', String(Math.min(row.depth, deepest)))
    if (!isButton(row)) return
    body.choice = row.choice
    // The rows of a covered screen have no choices. On a screen that comes back, a tap waits for them.
    body.ariaDisabled = row.choice || isComing ? null : 'true'
    body.disabled = this.device.readOnly
    body.ariaCurrent = current != null && current === row.title ? 'true' : null
  }

  #drawActions(actions, isComing) {
    const forms = actions.filter(action => action.schema && hasFields(action.schema))
    const plain = actions.filter(action => !forms.includes(action))
    const prominent = plain.filter(action => action.role === 'primary')
    const others = plain.filter(action => action.role !== 'primary' && action.role !== 'destructive')
    const foot = prominent.length + others.length <= 3 ? [...prominent, ...others] : prominent
    const listed = plain.filter(action => !foot.includes(action))
    const label = action => shortened(action.label)
    const draw = (element, action) => this.#drawAction(element, action, isComing)
    reconcile(this.foot, foot, label, () => this.#newAction('action'), draw)
    reconcile(this.list, listed, label, () => h('li', this.#newAction('row')),
      (item, action) => draw(item.firstChild, action))
    this.foot.hidden = !foot.length
    this.list.hidden = !listed.length
    const isSingle = forms.length === 1 && !plain.length
    this.forms.classList.toggle('single', isSingle)
    reconcile(this.forms, forms, action => `${action.type} ${label(action)}`, () => {
      const form = new ChoiceForm(this.device)
      return Object.assign(form.element, { form })
    }, (element, action) => {
      element.form.update(action)
      element.open ||= isSingle
    })
  }

  #newAction(className) {
    const label = h('bdi.label')
    return Object.assign(choiceButton(this.device.press, className, label), { label })
  }

  #drawAction(element, action, isComing) {
    put(element.label, action.label)
    element.choice = action.choice
    element.ariaDisabled = action.choice || isComing ? null : 'true'
    element.fields = action.schema ? '{}' : undefined
    element.disabled = this.device.readOnly
    element.dataset.role = action.role
  }
}

function isButton(row) { return row.choice != null || row.selectable === true }

function hasFields(schema) {
  return schema.type !== 'object' || Object.keys(schema.properties ?? {}).length > 0 || schema.required?.length > 0
}

function newSection() {
  const [header, list, footer] = [h('h3.header'), h('ul.rows'), h('p.footer')]
  const more = button('', () => {
    element.limit += rowPage
    element.draw()
  }, { class: 'more' })
  const element = h('section.group', header, list, more, footer)
  return Object.assign(element, { header, list, more, footer, limit: rowPage })
}

/** Nothing moves when the data arrives. */
function skeleton() {
  const rows = Array.from({ length: skeletonRows }, () => h('div.row', h('span.bone')))
  return h('div.group', h('div.rows.skeleton', ...rows), h('span.visually-hidden', 'Loading'))
}

customElements.define('segue-screen', SegueScreen)
