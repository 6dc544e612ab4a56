// @ts-check

const busyLimit = 10000
/** A spinner appears after 300 ms (device.css); one that appeared stays for a moment instead of flashing. */
const spinnerDelay = 300
const spinnerTime = 300

/**
 * The choices that are under way. A choice is busy from the press until the gateway sends something that may answer
 * it, at most for 10 seconds.
 */
export class Choices {
    /** @type {Map<string, {isSent: boolean, isFollowed: boolean, since: number, timer: any}>} */
    #busy = new Map()
    #changed

    /** @param {() => void} changed called when a choice becomes busy or ends */
    constructor(changed) { this.#changed = changed }

    isBusy(choice) { return choice != null && this.#busy.has(choice) }

    /** @param {string} choice @param {() => Promise<any>} send @throws what `send` throws */
    async begin(choice, send) {
        const timer = setTimeout(() => this.#finish(choice), busyLimit)
        const entry = { isSent: false, isFollowed: false, since: performance.now(), timer }
        this.#busy.set(choice, entry)
        this.#changed()
        try {
            await send()
            entry.isSent = true
            // The scene may follow before the answer to the request.
            if (entry.isFollowed) this.#finish(choice)
        } catch (error) {
            this.#finish(choice)
            throw error
        }
    }

    /** Ends the choices that have been sent: the gateway has sent a scene, or another sign of an answer. */
    followed() {
        for (const [choice, entry] of this.#busy) {
            entry.isFollowed = true
            if (!entry.isSent) continue
            const age = performance.now() - entry.since
            const isFlashing = age > spinnerDelay && age < spinnerDelay + spinnerTime
            if (!isFlashing) this.#finish(choice)
            else setTimeout(() => this.#finish(choice), spinnerDelay + spinnerTime - age)
        }
    }

    stop() {
        for (const entry of this.#busy.values()) clearTimeout(entry.timer)
    }

    #finish(choice) {
        clearTimeout(this.#busy.get(choice)?.timer)
        if (this.#busy.delete(choice)) this.#changed()
    }
}
