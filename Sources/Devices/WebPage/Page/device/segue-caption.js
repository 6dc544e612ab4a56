import { h, iconButton, setText } from '../elements/dom.js'
import { shortened } from '../elements/text.js'
import { durations, play } from './motion.js'
import { front } from './state.js'

/** The line below a device, with a pulse when a message acts on it. */
class SegueCaption extends HTMLElement {
  #dot = h('span.pulse')
  #texts = ['bdi.caption-name', 'bdi', 'bdi.mono', 'bdi', 'bdi.mono'].map(spec => h(spec))

  build(platform) {
    this.className = 'caption'
    const close = () => this.dispatchEvent(new CustomEvent('closedevice', { bubbles: true }))
    this.append(this.#dot, ...this.#texts,
      iconButton('×', `Close the device ${shortened(platform)}`, close, 'close-device'))
  }

  update({ platform, session }, scene, model) {
    const texts = [
      session === 'default' ? platform : `${platform} · ${session}`,
      scene && `${scene.flow.name} ${scene.flow.version}`, model && front(model).screen,
      scene && `revision ${scene.revision}`, scene?.rule,
    ]
    this.#texts.forEach((element, index) => setText(element, shortened(texts[index])))
  }

  pulse() {
    const frames = [{ opacity: 1 }, { opacity: 0.4, transform: 'scale(2.2)' }, { opacity: 1 }]
    play([[this.#dot, frames, 'in']], durations.pulse)
  }
}

customElements.define('segue-caption', SegueCaption)
