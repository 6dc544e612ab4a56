// The devices that are open on the page.

import { h, reconcile } from '../elements/dom.js'
import { ownSession, recall, remember } from '../memory.js'

const mostNamed = 8
const defaultCount = 2

export class Devices {
  #list
  /** The page has opened these devices without being told. */
  #isDefault
  #host
  #connection
  #changed

  constructor(host, connection, changed) {
    this.#host = host
    this.#connection = connection
    this.#changed = changed
    const stored = recall('session', 'devices')
    // A duplicated tab has a copy of what an open tab remembers. Its devices are others.
    const isOwn = recall('session', 'closed')
    remember('session', 'closed', false)
    addEventListener('pagehide', () => remember('session', 'closed', true))
    this.#list = (stored?.devices ?? []).map(device => isOwn ? device : { ...device, device: newName() })
    this.#isDefault = stored?.isDefault ?? true
    this.#draw()
  }

  get list() { return this.#list }
  get sessions() { return [...new Set(this.#list.map(device => device.session))] }
  get isIncomplete() { return this.#isDefault && this.#list.length < defaultCount }
  /** Empty for the devices that the page opens without being told. */
  get address() {
    return this.#isDefault ? '' : this.#list.map(({ platform, session }) => `${platform}:${session}`).join(',')
  }

  name(device) {
    const isOnly = this.#list.every(other => other === device || other.platform !== device.platform)
    return isOnly ? device.platform : device.device
  }

  named(name) { return this.#list.find(device => device.device === name || device.platform === name) }

  open(address) {
    // An open device keeps its identity.
    const rest = [...this.#list]
    const named = address.split(',').slice(0, mostNamed).map(entry => entry.split(/:(.*)/s))
    this.#set(named.filter(([platform]) => platform).map(([platform, name]) => {
      const session = name || 'default'
      const index = rest.findIndex(device => device.platform === platform && device.session === session)
      return index < 0 ? newDevice(platform, session) : rest.splice(index, 1)[0]
    }))
  }

  add(platform, session) {
    const device = newDevice(platform, session)
    this.#set([...this.#list, device])
    return device
  }

  addDefaults(platforms) {
    const missing = platforms.slice(0, defaultCount).filter(platform => !this.named(platform))
    if (!this.isIncomplete || !missing.length) return
    const added = missing.map(platform => newDevice(platform, 'default'))
    this.#set([...this.#list, ...added].slice(0, defaultCount), true)
  }

  mark({ platform, session }) {
    for (const device of this.#host.children) {
      if (device.options.platform === platform && device.options.session === session) device.caption?.pulse()
    }
  }

  setSession(session) {
    this.#set(this.#list.map(device => device.session === session ? device : newDevice(device.platform, session)))
  }

  #set(list, isDefault = false) {
    this.#list = list
    this.#isDefault = isDefault
    this.#draw()
    this.#changed()
  }

  #draw() {
    reconcile(this.#host, this.#list, device => device.device, device => Object.assign(h('segue-device', {
      onclosedevice: () => {
        this.#set(this.#list.filter(other => other.device !== device.device))
        this.#host.closest('section')?.focus()
      },
    }), { options: device, connection: this.#connection }))
    // After a reload the device continues.
    const devices = this.#list.map(device => ({ ...device, resumed: true }))
    remember('session', 'devices', { devices, isDefault: this.#isDefault })
  }
}

function newDevice(platform, session) {
  return { platform, session: ownSession ?? session, device: newName(), resumed: false }
}

function newName() { return `web-${Math.random().toString(16).slice(2, 8)}` }
