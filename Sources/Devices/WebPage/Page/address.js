// Addresses of the page: `#/messages?type=command.*`, `#/device/ios`, each with the open devices as a parameter.

export const changed = new EventTarget()
for (const name of ['hashchange', 'popstate']) addEventListener(name, () => fire())

export function current() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2)
  const [name, ...rest] = path.split('/')
  return { name, rest: rest.join('/'), parameters: new URLSearchParams(query) }
}

export function withDevices(devices = '') {
  const { name, rest, parameters } = current()
  parameters.delete('devices')
  if (devices) parameters.set('devices', devices)
  if (!name && !parameters.size) return ''
  // People read the address, and colons and commas are allowed in a fragment.
  const query = parameters.toString().replaceAll('%3A', ':').replaceAll('%2C', ',')
  return `#/${[name, rest].filter(Boolean).join('/')}${query && `?${query}`}`
}

export function go(hash, isReplacing = false) {
  const url = new URL(location.href)
  url.hash = hash
  if (url.href === location.href) return
  if (isReplacing) history.replaceState(null, '', url)
  else history.pushState(null, '', url)
  fire()
}

function fire() { changed.dispatchEvent(new Event('change')) }

export function decoded(text) {
  try { return decodeURIComponent(text) } catch { return text }
}
