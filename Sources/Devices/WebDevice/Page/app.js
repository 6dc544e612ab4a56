// @ts-check
// The layout of the page: the top bar, the open devices, the inspector, and addresses.

import { Connection } from './connection.js'
import './elements/segue-device.js'
import { asName, asText, make, put, reconcile, setAttribute } from './elements/render.js'
import { onDrag } from './elements/motion.js'

const $ = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id))
const root = document.documentElement
const small = matchMedia('(max-width: 800px)')
const connection = new Connection()
const parts = { messages: 'Messages', story: 'Story', processes: 'Processes' }
/** The parts of the page that an address can name, by its first segment. */
const partOf = { messages: 'messages', message: 'messages', story: 'story', processes: 'processes' }
const longestReadDelay = 30000

/** @typedef {{platform: string, session: string, device: string, resumed: boolean}} OpenDevice */

/** Reads JSON from a storage; null if there is none, or if the browser forbids storage. */
function stored(storage, key) {
    try { return JSON.parse(storage().getItem(key) ?? 'null') } catch { return null }
}
function store(storage, key, value) {
    try { storage().setItem(key, JSON.stringify(value)) } catch { /* The page works without memory. */ }
}
const session = () => sessionStorage
const local = () => localStorage

// MARK: Addresses

/** The part, the rest of the path and the parameters of an address such as `#/messages?type=command.*`. */
function address() {
    const [path, query] = location.hash.replace(/^#\/?/, '').split('?', 2)
    const [name, ...rest] = path.split('/')
    return { name, rest: rest.join('/'), parameters: new URLSearchParams(query ?? '') }
}

/** The address without the devices, which are the business of this file. */
function ownAddress() {
    const { name, rest, parameters } = address()
    parameters.delete('devices')
    return `#/${[name, rest].filter(Boolean).join('/')}${parameters.size ? `?${parameters}` : ''}`
}

function decoded(text) {
    try { return decodeURIComponent(text) } catch { return text }
}

function go(hash, replace = false) {
    const url = new URL(location.href)
    url.hash = hash
    if (url.href === location.href) return
    if (replace) history.replaceState(null, '', url)
    else history.pushState(null, '', url)
    showAddress()
}

/** Puts the devices into the address, so that a copied address opens them, but leaves its other parameters alone. */
function nameDevices() {
    const { name, rest, parameters } = address()
    const text = devices.map(device => `${device.platform}:${device.session}`).join(',')
    if (isDefault || !text) parameters.delete('devices')
    else parameters.set('devices', text)
    const query = parameters.toString().replaceAll('%3A', ':').replaceAll('%2C', ',')
    const path = [name, rest].filter(Boolean).join('/')
    const hash = path || query ? `#/${path}${query ? `?${query}` : ''}` : ''
    if (hash !== location.hash) history.replaceState(null, '', hash || location.pathname)
}

function showAddress() {
    const { name, rest, parameters } = address()
    const part = Object.hasOwn(partOf, name) ? partOf[name] : null
    const named = parameters.get('devices')
    if (named && named !== namedDevices) openNamed(named)
    root.dataset.shown = part ? 'inspector' : 'devices'
    if (!part && name === 'device') shownDevice = decoded(rest)
    drawShown()
    if (part) showPart(part)
    else if (!small.matches && !currentPart) showPart('messages')
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
    namedDevices = address().parameters.get('devices') ?? ''
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
    store(session, 'segue.devices', { devices: devices.map(device => ({ ...device, resumed: true })), isDefault })
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
        ...Object.entries(parts).filter(([part]) => part !== 'story' || currentPart === 'story')
            .map(([part, label]) => ({ label, hash: `#/${part}`, isCurrent: isInspector && part === currentPart })),
    ]
    reconcile($('small-tabs'), tabs, tab => tab.hash, () => {
        const element = make('button', '', { type: 'button' })
        element.addEventListener('click', () => go(element.hash))
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
    for (const element of inspectorElements.values()) element.session = chosen
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
    go(`#/device/${encodeURIComponent(nameOf(device))}`)
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
        store(local, 'segue.theme', next)
        setTheme(next)
    }
}

// MARK: The inspector

/** @type {string} */
let currentPart = ''
/** @type {Map<string, any>} */
const inspectorElements = new Map()

async function showPart(part) {
    currentPart = part
    drawTabs()
    drawShown()
    let element = inspectorElements.get(part)
    if (!element) {
        try {
            await import(`./elements/segue-${part}.js`)
            element = make(`segue-${part}`)
            element.connection = connection
            element.session = $('session').value
        } catch (error) {
            console.warn(error)
            element = make('p', 'empty', {}, `${parts[part]} cannot be shown, because a part of the page could not be loaded.`)
        }
        inspectorElements.set(part, element)
    }
    if (currentPart !== part) return
    if (Object.hasOwn(partOf, address().name)) element.address = ownAddress()
    if (element.parentElement !== $('inspector-panel')) $('inspector-panel').replaceChildren(element)
}

function drawTabs() {
    reconcile($('inspector-tabs'), Object.keys(parts), part => part, part => {
        const tab = make('button', '', { type: 'button', role: 'tab', id: `tab-${part}`, 'aria-controls': 'inspector-panel' }, parts[part])
        tab.addEventListener('click', () => go(`#/${part}`))
        return tab
    }, (tab, part) => {
        setAttribute(tab, 'aria-selected', String(part === currentPart))
        setAttribute(tab, 'tabindex', part === currentPart ? '0' : '-1')
    })
    $('inspector-panel').setAttribute('aria-labelledby', `tab-${currentPart}`)
}

$('inspector-tabs').addEventListener('keydown', event => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (!step) return
    const names = Object.keys(parts)
    const next = names[(names.indexOf(currentPart) + step + names.length) % names.length]
    go(`#/${next}`)
    $(`tab-${next}`).focus()
})

document.addEventListener('navigate', (/** @type {any} */ event) => {
    const { address: hash, replace } = event.detail ?? {}
    if (typeof hash !== 'string') return
    openInspector(true)
    go(hash.startsWith('#') ? hash : `#${hash.startsWith('/') ? '' : '/'}${hash}`, replace === true)
    nameDevices()
})

function openInspector(isOpen) {
    root.dataset.inspector = isOpen ? 'open' : 'closed'
    setAttribute($('inspector-toggle'), 'aria-expanded', String(isOpen))
    store(local, 'segue.inspector', { isOpen, width: root.style.getPropertyValue('--inspector') })
}
$('inspector-toggle').addEventListener('click', () => openInspector(root.dataset.inspector === 'closed'))

function setInspectorWidth(width) {
    const wide = Math.min(Math.max(width, 280), innerWidth - 360)
    root.style.setProperty('--inspector', `${Math.round(wide)}px`)
    setAttribute($('divider'), 'aria-valuenow', String(Math.round(100 * wide / innerWidth)))
}
onDrag($('divider'), () => {
    const width = $('inspector').offsetWidth
    return {
        axis: 'x', moved: x => setInspectorWidth(width - x), cancelled: () => setInspectorWidth(width),
        ended: () => openInspector(true),
    }
})
$('divider').addEventListener('keydown', event => {
    const step = { ArrowLeft: 24, ArrowRight: -24 }[event.key]
    if (!step) return
    event.preventDefault()
    setInspectorWidth($('inspector').offsetWidth + step)
    openInspector(true)
})

// MARK: Start

setTheme(themes.find(theme => theme === stored(local, 'segue.theme')) ?? 'auto')
const inspector = stored(local, 'segue.inspector')
if (inspector?.width) setInspectorWidth(parseInt(inspector.width, 10) || 400)
openInspector(inspector?.isOpen !== false)
const remembered = stored(session, 'segue.devices')
if (Array.isArray(remembered?.devices)) {
    devices = remembered.devices.filter(device => device?.platform && device.device).map(device => ({ ...device, resumed: true }))
    isDefault = remembered.isDefault === true
}
drawDevices()
addEventListener('hashchange', showAddress)
addEventListener('popstate', showAddress)
small.addEventListener('change', showAddress)
connection.addEventListener('change', drawState)
connection.addEventListener('hello', readKnown)
drawState()
showAddress()
