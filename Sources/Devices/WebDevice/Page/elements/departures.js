// @ts-check

/** The time in which the gateway's scene must follow a report, in milliseconds. Then the device shows the scene again. */
const followLimit = 3000

/**
 * What a person has changed before the scene follows: screens and presentations that were taken away, and the selected
 * tab. If the scene does not follow in time, or the report is refused, the change is undone.
 */
export class Departures {
    /** @type {Map<string, any>} */
    #gone = new Map()
    /** @type {{name: string, root: string, timer: any} | null} */
    #tab = null
    #undone

    /** @param {() => void} undone called when a change is taken back */
    constructor(undone) { this.#undone = undone }

    /** The ids of the instances that were taken away. */
    get ids() { return new Set(this.#gone.keys()) }
    has(instance) { return this.#gone.has(instance) }
    /** The name of the selected tab; null if the scene's tab is shown. */
    get tab() { return this.#tab?.name ?? null }

    /** Hides an instance; its time begins with the report. */
    add(instance) { this.#gone.set(instance, undefined) }

    /** @param {string} instance @param {Promise<any> | undefined} report */
    reported(instance, report) {
        const undo = () => {
            if (!this.#gone.has(instance)) return
            this.#forget(instance)
            this.#undone()
        }
        if (this.#gone.has(instance)) this.#gone.set(instance, setTimeout(undo, followLimit))
        report?.catch(undo)
    }

    /** @param {string} name @param {string} root @param {Promise<any> | undefined} report */
    select(name, root, report) {
        clearTimeout(this.#tab?.timer)
        const undo = () => {
            if (this.#tab !== tab) return
            clearTimeout(tab.timer)
            this.#tab = null
            this.#undone()
        }
        const tab = { name, root, timer: setTimeout(undo, followLimit) }
        this.#tab = tab
        report?.catch(undo)
    }

    /** Forgets the changes that the scene has followed. @param {Set<string>} open @param {any} model */
    follow(open, model) {
        for (const id of this.#gone.keys()) if (!open.has(id)) this.#forget(id)
        if (this.#tab && (!model || model.selected === this.#tab.name || model.root.id !== this.#tab.root)) this.#forgetTab()
    }

    stop() {
        for (const id of this.#gone.keys()) this.#forget(id)
        this.#forgetTab()
    }

    #forget(instance) {
        clearTimeout(this.#gone.get(instance))
        this.#gone.delete(instance)
    }

    #forgetTab() {
        clearTimeout(this.#tab?.timer)
        this.#tab = null
    }
}
