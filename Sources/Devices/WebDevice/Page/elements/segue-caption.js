// @ts-check
import { isMotionReduced } from './motion.js'
import { asName, iconButton, make, put } from './render.js'
import { front } from './state.js'

/** The line below a device: platform, flow, screen, revision and rule, and a pulse when a message acts on it. */
export class SegueCaption extends HTMLElement {
    #built = false

    connectedCallback() {
        if (this.#built) return
        this.#built = true
        this.classList.add('caption')
        this.dot = make('span', 'pulse', { 'aria-hidden': 'true' })
        this.texts = ['caption-name', '', 'mono', '', 'mono'].map(className => make('bdi', className))
        const platform = /** @type {any} */ (this.closest('segue-device'))?.options.platform
        const close = () => this.dispatchEvent(new CustomEvent('closedevice', { bubbles: true }))
        this.append(this.dot, ...this.texts, iconButton('×', `Close the device ${asName(platform)}`, close, 'close-device'))
    }

    /** @param {{platform: string, session: string}} options @param {any} scene @param {any} model */
    update({ platform, session }, scene, model) {
        const texts = [
            session === 'default' ? platform : `${platform} · ${session}`,
            scene?.flow ? `${asName(scene.flow.name)} ${asName(scene.flow.version)}` : '',
            model ? front(model).screen : '',
            scene?.revision != null ? `revision ${asName(scene.revision)}` : '',
            scene?.rule,
        ]
        texts.forEach((text, index) => put(this.texts[index], asName(text)))
    }

    pulse() {
        for (const running of this.dot.getAnimations()) running.cancel()
        const grown = isMotionReduced() ? {} : { transform: 'scale(2.2)' }
        this.dot.animate([{ opacity: 1 }, { opacity: 0.4, ...grown }, { opacity: 1 }], { duration: 600 })
    }
}

customElements.define('segue-caption', SegueCaption)
