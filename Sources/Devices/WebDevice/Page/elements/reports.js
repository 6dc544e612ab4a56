// @ts-check
// What a device sends to the gateway: reports of what a person and the animations did, and choices.

const attempts = 4
const retryDelay = 500
/** Statuses of requests that the gateway has not carried out. 404: it was restarted and has the view in a moment. */
const notTaken = [404, 429, 503]
/** Statuses of requests that it may have carried out. */
const unknown = [0, 502]

/**
 * Sends one request after the other, so that a completed swipe never overtakes its start. Reports are idempotent and
 * are repeated if the gateway cannot be reached; choices are not, because a choice could then be taken twice. Both are
 * repeated if the gateway cannot take them yet.
 */
export class Reports {
    #view
    #queue = Promise.resolve()
    #revision = -1
    #reportedRevision = -1
    /** @type {Set<string>} */
    #gone = new Set()

    /** @param {import('../connection.js').OpenView} view */
    constructor(view) { this.#view = view }

    /** @param {'started' | 'cancelled' | 'completed'} back @param {string} instance */
    back(back, instance) { return this.#enqueue({ back, instance }, true) }

    /** @param {string} instance */
    dismissed(instance) { return this.#enqueue({ dismissed: instance }, true) }

    /** @param {string} tab @param {string} root */
    tab(tab, root) { return this.#enqueue({ tab, instance: root }, true) }

    /** @param {string} choice @param {any} fields */
    choose(choice, fields) {
        return this.#enqueue(fields === undefined ? { choose: choice } : { choose: choice, fields }, false)
    }

    /** Reports the latest displayed revision; revisions that pass while a request is under way are left out. */
    displayed(revision) {
        if (!Number.isInteger(revision) || revision === this.#revision) return
        this.#revision = revision
        this.#then(async () => {
            const latest = this.#revision
            if (latest === this.#reportedRevision) return
            this.#reportedRevision = latest
            await this.#send({ displayed: latest }, true)
        }).catch(() => {})
    }

    /** Reports the leaving screens that are no longer shown, each once. @param {string[]} leaving */
    gone(leaving) {
        const fresh = leaving.filter(id => !this.#gone.has(id))
        this.#gone = new Set(leaving)
        if (fresh.length) this.#enqueue({ gone: fresh }, true).catch(() => {})
    }

    /** Waits until all reports so far are sent. */
    settled() { return this.#queue }

    #enqueue(body, isReport) { return this.#then(() => this.#send(body, isReport)) }

    /** @param {() => Promise<any>} action */
    #then(action) {
        const result = this.#queue.then(action)
        this.#queue = result.catch(() => {})
        return result
    }

    async #send(body, isReport) {
        for (let attempt = 1; ; attempt += 1) {
            try {
                return await this.#view.post(body)
            } catch (error) {
                const isRepeated = notTaken.includes(error.status) || (isReport && unknown.includes(error.status))
                if (!isRepeated || attempt === attempts) throw error
                await new Promise(resolve => setTimeout(resolve, retryDelay * attempt))
            }
        }
    }
}
