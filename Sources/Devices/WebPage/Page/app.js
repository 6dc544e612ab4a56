// The page: its top bar, its open devices, and what an address shows.

import * as address from './address.js'
import { Connection } from './connection.js'
import { Devices } from './device/devices.js'
import './device/segue-device.js'
import { h, reconcile, setText } from './elements/dom.js'
import { shortened } from './elements/text.js'
import { Inspector, partNamed, parts, tabOf } from './inspector/inspector.js'
import { ownSession, recall, remember } from './memory.js'

const $ = id => document.getElementById(id)
const root = document.documentElement
const small = matchMedia('(max-width: 800px)')
const connection = new Connection()
const inspector = ownSession === null ? new Inspector(connection) : null
const devices = new Devices($('open-devices'), connection, drawDevices)

function showAddress() {
  const { name, rest, parameters } = address.current()
  const part = inspector && partNamed(name)
  const named = parameters.get('devices')
  if (named && named !== devices.address) devices.open(named)
  root.dataset.shown = part ? 'inspector' : 'devices'
  if (!part && name === 'device') shownDevice = address.decoded(rest)
  if (part) inspector.show(part)
  else if (!small.matches && inspector?.part === '') inspector.show('happenings')
  // The address of a link does not name the devices.
  drawDevices()
}

let shownDevice = ''

function drawDevices() {
  // A copy of the address opens the same devices. This is no step in the history.
  const hash = address.withDevices(devices.address)
  if (hash !== location.hash) history.replaceState(null, '', hash || location.pathname)
  drawEmpty()
  drawSession()
  const shown = devices.named(shownDevice) ?? devices.list[0]
  for (const element of document.querySelectorAll('segue-device')) {
    element.classList.toggle('shown', element.options.device === shown?.device)
  }
  drawSmallTabs(shown)
}

function drawSmallTabs(shown) {
  const isInspector = root.dataset.shown === 'inspector'
  const tabs = devices.list.map(device => {
    const { platform, session } = device
    const name = devices.name(device)
    const label = name === platform ? platform : `${platform} · ${session}`
    return { label, hash: `#/device/${encodeURIComponent(name)}`, isCurrent: !isInspector && device === shown }
  })
  for (const [part, label] of Object.entries(inspector ? parts : {})) {
    const isCurrent = part === tabOf(inspector.part)
    if (part !== 'story' || isCurrent) tabs.push({ label, hash: `#/${part}`, isCurrent: isInspector && isCurrent })
  }
  reconcile($('small-tabs'), tabs, tab => tab.hash,
    tab => h('button', { onclick: () => address.go(tab.hash) }),
    (element, tab) => {
      setText(element, shortened(tab.label))
      element.ariaCurrent = tab.isCurrent ? 'page' : null
    })
}

let known = { flows: [], sessions: ['default'] }
const longestReadDelay = 30000
let readDelay = 2000
let nextRead

async function readKnown() {
  const read = await connection.get('/api/flows').catch(() => null)
  if (read) known = { flows: read.flows, sessions: [...new Set(['default', ...read.sessions])] }
  devices.addDefaults(known.flows.map(flow => flow.platform))
  drawEmpty()
  drawSession()
  // The coordinators of an app start one after the other.
  if (!connection.state.live || !devices.isIncomplete) return
  clearTimeout(nextRead)
  nextRead = setTimeout(readKnown, readDelay)
  readDelay = Math.min(1.5 * readDelay, longestReadDelay)
}

function drawEmpty() {
  const { live, signedOut } = connection.state
  setText($('empty'), devices.list.length ? ''
    : signedOut ? 'You are signed out. Run “segue open” to sign in again.'
    : !live ? 'Connecting to the gateway…'
    : known.flows.length ? 'No device is open. Open one with “+ Device”.'
    : 'No flow is on the bus yet. The devices appear when a coordinator has started.')
}

function drawState() {
  const { hello, live, bus, signedOut } = connection.state
  const name = signedOut ? 'signed out' : !hello ? 'connecting' : !live ? 'gateway away'
    : bus === 'away' ? 'bus away' : 'live'
  $('state').dataset.state = name
  setText($('state-text'), name)
  $('read-only').hidden = !connection.readOnly
  const names = [...new Set([hello?.stack, hello?.app, ownSession].filter(name => name && name !== 'segue'))]
    .map(name => shortened(name)).join(' · ')
  setText($('stack'), names)
  document.title = names ? `${names} – Segue` : 'Segue'
  drawEmpty()
}

/** Choosing a session opens the same platforms in it. */
function drawSession() {
  if (inspector) inspector.session = devices.sessions[0] ?? 'default'
  const several = devices.sessions.length > 1
  const names = [...new Set([...known.sessions, ...devices.sessions])]
  drawOptions($('session'), several ? ['', ...names] : names, name => name || 'several sessions')
  $('session').value = several ? '' : devices.sessions[0] ?? 'default'
  drawOptions($('sessions'), known.sessions, name => name)
  drawOptions($('add-platform'), [...new Set(known.flows.map(flow => flow.platform))], platform => {
    const flow = known.flows.find(flow => flow.platform === platform)
    return `${platform} (${flow?.name})`
  })
}

function drawOptions(list, values, label) {
  reconcile(list, values, value => value, value => h('option', { value }), (option, value) => {
    setText(option, shortened(label(value)))
  })
}

$('session').addEventListener('change', () => {
  if ($('session').value) devices.setSession($('session').value)
})

$('add-panel').addEventListener('toggle', event => {
  if (event.newState !== 'open') return
  readKnown()
  $('add-session').value = $('session').value || 'default'
  setText($('add-problem'), known.flows.length ? '' : 'No flow is on the bus yet.')
  $('add-platform').focus()
})
$('add-panel').addEventListener('submit', event => {
  event.preventDefault()
  const device = devices.add($('add-platform').value, $('add-session').value.trim() || 'default')
  $('add-panel').hidePopover()
  address.go(`#/device/${encodeURIComponent(devices.name(device))}`)
  $('open-devices').lastElementChild.scrollIntoView({ inline: 'nearest', block: 'nearest' })
})

const themes = ['auto', 'light', 'dark']
function setTheme(theme) {
  const next = themes[(themes.indexOf(theme) + 1) % themes.length]
  root.dataset.theme = theme
  $('theme').ariaLabel = `Theme: ${theme}. Change to ${next}`
  $('theme').title = `Theme: ${theme}`
  $('theme').onclick = () => {
    remember('local', 'theme', next)
    setTheme(next)
  }
}

setTheme(themes.find(theme => theme === recall('local', 'theme')) ?? 'auto')
address.changed.addEventListener('change', showAddress)
small.addEventListener('change', showAddress)
$('inspector').addEventListener('point', ({ detail }) => {
  if (detail.platform) devices.mark(detail)
  inspector?.mark(detail)
})
connection.addEventListener('change', drawState)
connection.addEventListener('hello', readKnown)
drawState()
showAddress()

// The last sign-in counts in all tabs.
const signIns = new BroadcastChannel('segue')
signIns.onmessage = ({ data }) => data === ownSession || location.reload()
signIns.postMessage(ownSession)
