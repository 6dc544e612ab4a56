// @ts-check
import { asName, button, iconButton, make, put, reconcile, setAttribute, uniqueID } from './render.js'

/**
 * @typedef {{title: string, depth?: number, subtitle?: any, detail?: any, choice?: string | null}} Row
 * @typedef {{choice: string, label: string, role?: string, type?: string, schema?: any}} Action
 * @typedef {{content: any, title: any, covered: boolean, previous: any, back: boolean, close: boolean,
 *   waiting: boolean, current?: any}} ScreenUpdate
 */

/** The number of rows of a section that are shown at first; a button shows as many again. */
const rowPage = 200
const skeletonRows = 5
/** A longer title of the screen below would be cut in the back button, which then says only "Back". */
const longestBack = 14

/** One screen: a bar, the title, sections of rows, actions and forms. It draws contents and reports choices. */
export class SegueScreen extends HTMLElement {
    /** @type {any} The `<segue-device>` that carries out what a person does. */
    device = null
    instance = ''
    /** The element to focus when a person comes back to this screen. @type {HTMLElement | null} */
    lastFocus = null
    #built = false
    /** @type {ScreenUpdate | null} */
    #update = null
    /** Numbers of rows that a person has asked for, by the index of the section. */
    #shownRows = new Map()
    #openForms = new Set()

    connectedCallback() {
        if (this.#built) return
        this.#built = true
        const id = uniqueID()
        this.setAttribute('role', 'group')
        this.setAttribute('aria-labelledby', id)
        this.backButton = button('', () => this.device.goBack(this.instance), 'back')
        this.backText = make('bdi')
        this.backButton.append(make('span', 'chevron', { 'aria-hidden': 'true' }), this.backText)
        this.barTitle = make('bdi', 'bar-title', { 'aria-hidden': 'true' })
        this.closeButton = iconButton('×', 'Close', () => this.device.dismissLayer(this), 'close')
        this.bar = make('div', 'bar', {}, this.backButton, this.barTitle, this.closeButton)
        this.heading = make('h2', 'title', { id, tabindex: '-1' })
        this.sections = make('div', 'sections')
        this.forms = make('div', 'forms')
        this.list = make('ul', 'rows actions-list')
        this.scroller = make('div', 'scroll', {}, this.heading, this.sections, this.forms, this.list)
        this.foot = make('div', 'foot')
        this.append(this.bar, this.scroller, this.foot)
        this.scroller.addEventListener('scroll', () => {
            this.classList.toggle('scrolled', this.scroller.scrollTop > this.heading.offsetHeight - 8)
        }, { passive: true })
        this.addEventListener('focusin', event => { this.lastFocus = /** @type {HTMLElement} */ (event.target) })
        if (this.#update) this.update(this.#update)
    }

    /** @param {ScreenUpdate} update */
    update(update) {
        this.#update = update
        if (!this.#built) return
        const { content, title } = update
        put(this.heading, title)
        put(this.barTitle, asName(title))
        this.backButton.hidden = !update.back
        this.backButton.disabled = this.device.readOnly
        const previous = asName(update.previous)
        put(this.backText, previous && previous.length <= longestBack ? previous : 'Back')
        setAttribute(this.backButton, 'aria-label', previous ? `Back to ${previous}` : null)
        this.closeButton.hidden = !update.close
        const isLoading = !content || content.loading === true
        setAttribute(this, 'aria-busy', isLoading || update.waiting ? 'true' : null)
        const hasRows = content?.sections?.some?.(section => section?.rows?.length > 1) === true
        this.classList.toggle('waiting', update.waiting || (isLoading && hasRows))
        this.#drawSections(content, isLoading, update.current)
        const actions = Array.isArray(content?.actions) ? content.actions : []
        // A covered screen has no actions. It keeps those that it had, and what was entered in their forms: the screen
        // can still be seen below a sheet and during a swipe.
        if (!update.covered || actions.length) this.#drawActions(actions)
        this.drawBusy()
        // What scrolls without a control in it must itself take the focus, or the keyboard cannot scroll it.
        setAttribute(this.scroller, 'tabindex', this.scroller.querySelector('button') ? null : '0')
    }

    /** Shows the choices that are being sent. */
    drawBusy() {
        for (const element of this.querySelectorAll('[data-choice]')) {
            const isBusy = this.device.isBusy(/** @type {any} */ (element).choice)
            setAttribute(element, 'aria-busy', isBusy ? 'true' : null)
        }
    }

    // MARK: Rows

    #drawSections(content, isLoading, current) {
        const sections = Array.isArray(content?.sections) ? content.sections.filter(section => section) : []
        const count = sections.reduce((sum, section) => sum + (section.rows?.length ?? 0), 0)
        const shown = isLoading && count < 2 ? [...sections, { skeleton: true }] : sections
        reconcile(this.sections, shown, section => section.skeleton ? 'skeleton' : 'section',
            section => section.skeleton ? skeleton() : newSection(),
            (element, section, index) => {
                if (!section.skeleton) this.#drawSection(element, section, index, current)
            })
    }

    #drawSection(element, section, index, current) {
        const rows = Array.isArray(section.rows) ? section.rows.filter(row => row && typeof row === 'object') : []
        const limit = this.#shownRows.get(index) ?? rowPage
        const list = element.list
        if (section.header != null) {
            element.header ??= make('h3', 'header')
            put(element.header, section.header)
            element.prepend(element.header)
        } else { element.header?.remove() }
        // Rows that are only text, without a choice or a second text, are a paragraph rather than a list.
        const isText = rows.length > 0 && rows.length < 4 && !section.numbered
            && rows.every(row => !row.choice && !row.depth && row.subtitle == null && row.detail == null)
        element.classList.toggle('text', isText)
        list.classList.toggle('numbered', section.numbered === true)
        // The rows of a covered screen have no choices. They stay buttons, so that the focus can return to them.
        const name = row => String(row.title).slice(0, 100)
        const buttons = new Set([...list.children].map(item => item.name).filter(known => known != null))
        const isButton = row => Boolean(row.choice) || buttons.has(name(row))
        reconcile(list, rows.slice(0, limit), row => `${isButton(row) ? 'b' : 't'} ${name(row)}`,
            row => this.#newRow(isButton(row) ? name(row) : null),
            (item, row, place) => this.#drawRow(item, row, place, section, current))
        list.hidden = !rows.length
        if (rows.length > limit) {
            element.more ??= button('', () => {
                this.#shownRows.set(index, (this.#shownRows.get(index) ?? rowPage) + rowPage)
                if (this.#update) this.update(this.#update)
            }, 'more')
            put(element.more, `Show more (${(rows.length - limit).toLocaleString('en')} left)`)
            list.after(element.more)
        } else { element.more?.remove() }
        if (section.footer != null) {
            element.footer ??= make('p', 'footer')
            put(element.footer, section.footer)
            element.append(element.footer)
        } else { element.footer?.remove() }
    }

    /** @param {string | null} name what a button is known by; null for a row that cannot be chosen */
    #newRow(name) {
        const item = make('li')
        item.name = name
        const body = item.body = name != null ? this.#choiceButton('row') : make('div', 'row')
        const texts = make('span', 'texts')
        item.number = make('span', 'number')
        item.heading = make('bdi', 'row-title')
        item.subtitle = make('bdi', 'subtitle')
        item.detail = make('bdi', 'detail')
        texts.append(item.heading, item.subtitle)
        body.append(item.number, texts, item.detail)
        if (name != null) body.append(make('span', 'spinner', { 'aria-hidden': 'true' }), make('span', 'chevron', { 'aria-hidden': 'true' }))
        item.append(body)
        return item
    }

    #drawRow(item, row, place, section, current) {
        put(item.heading, row.title)
        put(item.subtitle, row.subtitle)
        put(item.detail, row.detail)
        item.subtitle.hidden = row.subtitle == null
        item.detail.hidden = row.detail == null
        item.number.hidden = !section.numbered
        if (section.numbered) put(item.number, String(place + 1))
        // Rows of a tree are indented; deeper levels than 8 would leave no room for their texts.
        const depth = Math.min(Math.max(Number(row.depth) || 0, 0), 8)
        if (depth || item.depth) item.body.style.setProperty('--depth', String(item.depth = depth))
        if (item.name == null) return
        item.body.choice = row.choice ?? null
        setAttribute(item.body, 'aria-disabled', row.choice ? null : 'true')
        item.body.disabled = this.device.readOnly
        setAttribute(item.body, 'aria-current', current != null && current === row.title ? 'true' : null)
    }

    // MARK: Actions

    #drawActions(actions) {
        const forms = actions.filter(action => action && hasFields(action.schema))
        const plain = actions.filter(action => action && !forms.includes(action))
        const prominent = plain.filter(action => action.role === 'primary')
        const normal = plain.filter(action => action.role !== 'primary' && action.role !== 'destructive')
        // A few normal actions go beside the primary one; many would cover the content.
        const foot = prominent.length + normal.length <= 3 ? [...prominent, ...normal] : prominent
        const listed = plain.filter(action => !foot.includes(action))
        reconcile(this.foot, foot, action => asName(action.label), () => this.#newAction('action'), this.#drawAction)
        reconcile(this.list, listed, action => asName(action.label), () => {
            const item = make('li')
            item.append(item.button = this.#newAction('row'))
            return item
        }, (item, action) => this.#drawAction(item.button, action))
        this.foot.hidden = !foot.length
        this.list.hidden = !listed.length
        // A form that is the only thing to do on a screen needs no button that opens it.
        this.forms.classList.toggle('single', forms.length === 1 && !plain.length)
        reconcile(this.forms, forms, action => `${asName(action.type)} ${asName(action.label)}`,
            action => this.#newForm(action), this.#drawForm)
        this.forms.hidden = !forms.length
    }

    #newAction(className) {
        const element = this.#choiceButton(className)
        element.label = make('bdi', 'label')
        element.append(element.label, make('span', 'spinner', { 'aria-hidden': 'true' }))
        return element
    }

    #drawAction = (element, action) => {
        put(element.label, action.label)
        element.choice = action.choice
        element.fields = action.schema ? {} : undefined
        element.disabled = this.device.readOnly || !action.choice
        element.dataset.role = action.role === 'primary' || action.role === 'destructive' ? action.role : 'normal'
    }

    #choiceButton(className) {
        const element = /** @type {any} */ (button('', () => {
            this.device.choose(element.choice, element, element.fields)
        }, className))
        element.dataset.choice = ''
        return element
    }

    #newForm(action) {
        const element = make('segue-choice-form')
        element.device = this.device
        element.open = this.#openForms.has(action.type)
        element.addEventListener('toggle', () => {
            if (element.open) this.#openForms.add(action.type)
            else this.#openForms.delete(action.type)
        })
        return element
    }

    #drawForm = (element, action) => {
        if (this.forms.classList.contains('single')) element.open = true
        element.action = action
    }
}

/** A command whose schema names no fields needs no form. */
function hasFields(schema) {
    if (!schema || typeof schema !== 'object') return false
    return schema.type !== 'object' || Object.keys(schema.properties ?? {}).length > 0 || schema.required?.length > 0
}

function newSection() {
    const element = make('section', 'group')
    element.list = make('ul', 'rows')
    element.append(element.list)
    return element
}

/** Rows of the final height: nothing moves when the data arrives. */
function skeleton() {
    const rows = make('div', 'rows skeleton', { 'aria-hidden': 'true' })
    for (let index = 0; index < skeletonRows; index += 1) rows.append(make('div', 'row', {}, make('span', 'bone')))
    return make('div', 'group', {}, rows, make('span', 'visually-hidden', {}, 'Loading'))
}

customElements.define('segue-screen', SegueScreen)
