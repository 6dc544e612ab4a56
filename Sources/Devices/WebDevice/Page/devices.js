// @ts-check
// The devices that are open on the page.

import { h, reconcile } from './elements/dom.js'
import { recall, remember } from './memory.js'

/** @typedef {{platform: string, session: string, device: string, resumed: boolean}} OpenDevice */

const mostNamed = 8
const defaultCount = 2

export class Devices {
  /** @type {OpenDevice[]} */
  #list
  /** True while the devices are those that the page opens without being told. */
  #isDefault
  #host
  #connection
  #changed

  /**
   * @param {HTMLElement} host @param {import('./connection.js').Connection} connection
   * @param {() => void} changed called when devices were opened or closed
   */
  constructor(host, connection, changed) {
    this.#host = host
    this.#connection = connection
    this.#changed = changed
    const stored = recall('session', 'devices')
    this.#list = stored?.devices ?? []
    this.#isDefault = stored?.isDefault ?? true
    this.#draw()
  }

  get list() { return this.#list }
  get sessions() { return [...new Set(this.#list.map(device => device.session))] }
  /** True if devices of the app's platforms may still be opened without being told. */
  get isIncomplete() { return this.#isDefault && this.#list.length < defaultCount }
  /** The devices as an address names them; nothing if they are those that the page opens without being told. */
  get address() {
    return this.#isDefault ? '' : this.#list.map(({ platform, session }) => `${platform}:${session}`).join(',')
  }

  /** A name in an address: the platform, if no other open device has it. @param {OpenDevice} device */
  name(device) {
    const isOnly = this.#list.every(other => other === device || other.platform !== device.platform)
    return isOnly ? device.platform : device.device
  }

  /** @param {string} name @returns {OpenDevice | undefined} */
  named(name) { return this.#list.find(device => device.device === name || device.platform === name) }

  /** Opens the devices of an address in place of the others. */
  open(address) {
    // A device that is open already keeps its identity.
    const rest = [...this.#list]
    const named = address.split(',').slice(0, mostNamed).map(entry => entry.split(/:(.*)/s))
    this.#set(named.filter(([platform]) => platform).map(([platform, name]) => {
      const session = name || 'default'
      const index = rest.findIndex(device => device.platform === platform && device.session === session)
      return index < 0 ? newDevice(platform, session) : rest.splice(index, 1)[0]
    }))
  }

  /** @param {string} platform @param {string} session @returns {OpenDevice} */
  add(platform, session) {
    const device = newDevice(platform, session)
    this.#set([...this.#list, device])
    return device
  }

  /** Opens the devices of the first platforms. @param {string[]} platforms */
  addDefaults(platforms) {
    const missing = platforms.slice(0, defaultCount).filter(platform => !this.named(platform))
    if (!this.isIncomplete || !missing.length) return
    const added = missing.map(platform => newDevice(platform, 'default'))
    this.#set([...this.#list, ...added].slice(0, defaultCount), true)
  }

  /** Opens the same platforms in another session. */
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
    // After a reload the device continues; it was launched before.
    const devices = this.#list.map(device => ({ ...device, resumed: true }))
    remember('session', 'devices', { devices, isDefault: this.#isDefault })
  }
}

function newDevice(platform, session) {
  return { platform, session, device: `web-${Math.random().toString(16).slice(2, 8)}`, resumed: false }
}
