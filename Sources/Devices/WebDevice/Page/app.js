// @ts-check
// The page: its top bar, its open devices, and what an address shows.

import * as address from './address.js'
import { Connection } from './connection.js'
import './elements/segue-device.js'
import { asName, asText, make, put, reconcile, setAttribute } from './elements/render.js'
import { Inspector, partNamed, parts } from './inspector.js'
import { recall, remember } from './memory.js'

const $ = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id))
const root = document.documentElement
const small = matchMedia('(max-width: 800px)')
const connection = new Connection()
const inspector = new Inspector(connection)
const longestReadDelay = 30000

/** @typedef {{platform: string, session: string, device: string, resumed: boolean}} OpenDevice */

/** Puts the devices into the address, so that a copied address opens them. */
function nameDevices() {
    const names = devices.map(device => `${device.platform}:${device.session}`).join(',')
    address.nameDevices(isDefault ? '' : names)
}

function showAddress() {
    const { name, rest, parameters } = address.current()
    const part = partNamed(name)
    const named = parameters.get('devices')
    if (named && named !== namedDevices) openNamed(named)
    root.dataset.shown = part ? 'inspector' : 'devices'
    if (!part && name === 'device') shownDevice = address.decoded(rest)
    if (part) inspector.show(part)
    else if (!small.matches && !inspector.part) inspector.show('messages')
    drawShown()
    // An address that a link or a tab leads to does not name the devices.
    nameDevices()
}

// MARK: Devices

/** @type {OpenDevice[]} */
let devices = []
/** True while the devices are those that the page opens without being told. */
let isDefault = true
let namedDevices = ''
/** At small widths, the one device that is shown. */
let shownDevice = ''
/** @type {{flows: any[], sessions: string[]}} */
let known = { flows: [], sessions: ['default'] }

function newDevice(platform, session) {
    return { platform, session, device: `web-${Math.random().toString(16).slice(2, 8)}`, resumed: false }
}

function openNamed(text) {
    namedDevices = text
    const wanted = text.split(',').slice(0, 8).map(entry => {
        const colon = entry.indexOf(':')
        return colon < 0 ? [entry, 'default'] : [entry.slice(0, colon), entry.slice(colon + 1) || 'default']
    }).filter(([platform]) => platform)
    // A device that is open already keeps its identity.
    const rest = [...devices]
    devices = wanted.map(([platform, session]) => {
        const index = rest.findIndex(device => device.platform === platform && device.session === session)
        return index < 0 ? newDevice(platform, session) : rest.splice(index, 1)[0]
    })
    isDefault = false
    drawDevices()
}

/** @param {OpenDevice[]} list */
function setDevices(list, byDefault = false) {
    devices = list
    isDefault = byDefault
    drawDevices()
    nameDevices()
    namedDevices = address.current().parameters.get('devices') ?? ''
}

function drawDevices() {
    reconcile($('devices'), devices, device => device.device, device => {
        const element = make('segue-device')
        element.options = { ...device }
        element.connection = connection
        element.addEventListener('closedevice', () => {
            setDevices(devices.filter(other => other.device !== device.device))
            $('devices').focus()
        })
        return element
    }, () => {})
    $('devices').append($('empty') ?? emptyState)
    // After a reload the device continues; it was launched before.
    remember('session', 'devices', { devices: devices.map(device => ({ ...device, resumed: true })), isDefault })
    drawEmpty()
    drawSession()
    drawShown()
}

const emptyState = $('empty')

function drawEmpty() {
    const { live, signedOut } = connection.state
    put(emptyState, devices.length ? ''
        : signedOut ? 'You are signed out. Run “segue open” to sign in again.'
        : !live ? 'Connecting to the gateway…'
        : known.flows.length ? 'No device is open. Open one with “+ Device”.'
        : 'No flow is on the bus yet. The devices appear when a coordinator has started.')
}

/** The name of a device in an address: its platform, if no other open device has it. @param {OpenDevice} device */
function nameOf(device) {
    return devices.some(other => other !== device && other.platform === device.platform) ? device.device : device.platform
}

/** At small widths one device is shown, and a tab for each device and each part of the inspector. */
function drawShown() {
    const elements = [...document.querySelectorAll('segue-device')]
    const shown = devices.find(device => device.device === shownDevice || device.platform === shownDevice) ?? devices[0]
    for (const element of elements) {
        element.classList.toggle('shown', /** @type {any} */ (element).options.device === shown?.device)
    }
    const isInspector = root.dataset.shown === 'inspector'
    const tabs = [
        ...devices.map(device => ({
            label: nameOf(device) === device.platform ? device.platform : `${device.platform} · ${device.session}`,
            hash: `#/device/${encodeURIComponent(nameOf(device))}`, isCurrent: !isInspector && device === shown,
        })),
        ...Object.entries(parts).filter(([part]) => part !== 'story' || inspector.part === 'story')
            .map(([part, label]) => ({ label, hash: `#/${part}`, isCurrent: isInspector && part === inspector.part })),
    ]
    reconcile($('small-tabs'), tabs, tab => tab.hash, () => {
        const element = make('button', '', { type: 'button' })
        element.addEventListener('click', () => address.go(element.hash))
        return element
    }, (element, tab) => {
        element.hash = tab.hash
        put(element, asName(tab.label))
        setAttribute(element, 'aria-current', tab.isCurrent ? 'page' : null)
    })
}

let readDelay = 2000
/** @type {ReturnType<typeof setTimeout> | undefined} */
let nextRead

/** Reads the flows of the bus. Until there are two, it asks again. */
async function readKnown() {
    const types = await connection.get('/api/types').catch(() => null)
    if (types) {
        const flows = Array.isArray(types.flows) ? types.flows.filter(flow => typeof flow?.platform === 'string') : []
        const sessions = Array.isArray(types.sessions) ? types.sessions.map(asText) : []
        known = { flows, sessions: [...new Set(['default', ...sessions])] }
    }
    const missing = known.flows.slice(0, 2).filter(flow => !devices.some(device => device.platform === flow.platform))
    if (isDefault && devices.length < 2 && missing.length) {
        setDevices([...devices, ...missing.map(flow => newDevice(flow.platform, 'default'))].slice(0, 2), true)
    }
    drawEmpty()
    drawSession()
    // The coordinators of an app start one after the other.
    if (!connection.state.live || !isDefault || devices.length > 1) return
    clearTimeout(nextRead)
    nextRead = setTimeout(readKnown, readDelay)
    readDelay = Math.min(1.5 * readDelay, longestReadDelay)
}

// MARK: The top bar

function drawState() {
    const { state } = connection
    const name = state.signedOut ? 'signed out' : !state.hello ? 'connecting' : !state.live ? 'gateway away'
        : state.bus === 'away' ? 'bus away' : 'live'
    $('state').dataset.state = name
    put($('state-text'), name)
    $('read-only').hidden = !connection.readOnly
    const { stack, app } = state.hello ?? {}
    const names = [...new Set([stack, app].filter(Boolean).map(asName))].filter(text => text.toLowerCase() !== 'segue')
    put($('stack'), names.join(' · '))
    document.title = names.length ? `${names.join(' · ')} – Segue` : 'Segue'
    drawEmpty()
}

/** The chooser shows the session of all devices, or "several". Choosing one opens the same platforms in it. */
function drawSession() {
    const chosen = [...new Set(devices.map(device => device.session))]
    const names = [...new Set([...known.sessions, ...chosen])]
    const options = chosen.length > 1 ? ['', ...names] : names
    reconcile($('session'), options, name => name, () => make('option'), (option, name) => {
        option.value = name
        put(option, name ? asName(name) : 'several sessions')
    })
    $('session').value = chosen.length > 1 ? '' : chosen[0] ?? 'default'
    reconcile($('sessions'), known.sessions, name => name, () => make('option'), (option, name) => { option.value = name })
    const platforms = [...new Set(known.flows.map(flow => flow.platform))]
    reconcile($('add-platform'), platforms, name => name, () => make('option'), (option, name) => {
        const flow = known.flows.find(candidate => candidate.platform === name)
        option.value = name
        put(option, asName(flow?.title ? `${name} (${flow.title})` : flow?.name ? `${name} (${flow.name})` : name))
    })
}

$('session').addEventListener('change', () => {
    const chosen = $('session').value
    if (chosen) setDevices(devices.map(device => device.session === chosen ? device : newDevice(device.platform, chosen)))
})

$('add-panel').addEventListener('toggle', event => {
    if (event.newState !== 'open') return
    readKnown()
    $('add-session').value = $('session').value || 'default'
    put($('add-problem'), known.flows.length ? '' : 'No flow is on the bus yet.')
    $('add-platform').focus()
})
$('add-panel').addEventListener('submit', event => {
    event.preventDefault()
    const device = newDevice($('add-platform').value, $('add-session').value.trim() || 'default')
    $('add-panel').hidePopover()
    shownDevice = device.device
    setDevices([...devices, device])
    address.go(`#/device/${encodeURIComponent(nameOf(device))}`)
    document.querySelector('segue-device:last-of-type')?.scrollIntoView({ inline: 'nearest', block: 'nearest' })
})

const themes = ['auto', 'light', 'dark']
function setTheme(theme) {
    if (theme === 'auto') delete root.dataset.theme
    else root.dataset.theme = theme
    const next = themes[(themes.indexOf(theme) + 1) % themes.length]
    $('theme').setAttribute('aria-label', `Theme: ${theme}. Change to ${next}`)
    $('theme').title = `Theme: ${theme}`
    $('theme').onclick = () => {
        remember('local', 'theme', next)
        setTheme(next)
    }
}

// MARK: Start

setTheme(themes.find(theme => theme === recall('local', 'theme')) ?? 'auto')
const remembered = recall('session', 'devices')
if (Array.isArray(remembered?.devices)) {
    devices = remembered.devices.filter(device => device?.platform && device.device).map(device => ({ ...device, resumed: true }))
    isDefault = remembered.isDefault === true
}
drawDevices()
// The parts of the inspector request addresses; the location belongs to the page.
document.addEventListener('navigate', (/** @type {any} */ event) => {
    const { address: hash, replace } = event.detail ?? {}
    if (typeof hash !== 'string') return
    inspector.open(true)
    address.go(hash.startsWith('#') ? hash : `#${hash.startsWith('/') ? '' : '/'}${hash}`, replace === true)
})
address.changed.addEventListener('change', showAddress)
small.addEventListener('change', showAddress)
connection.addEventListener('change', drawState)
connection.addEventListener('hello', readKnown)
drawState()
showAddress()
