// @ts-check
// Addresses of the page: `#/messages?type=command.*`, `#/device/ios`, each with the open devices as a parameter.

/** The address has changed, by this file or by the browser. */
export const changed = new EventTarget()
for (const event of ['hashchange', 'popstate']) addEventListener(event, () => changed.dispatchEvent(new Event('change')))

/** The first segment of the path, the rest of it, and the parameters. */
export function current() {
    const [path, query] = location.hash.replace(/^#\/?/, '').split('?', 2)
    const [name, ...rest] = path.split('/')
    return { name, rest: rest.join('/'), parameters: new URLSearchParams(query ?? '') }
}

/** The address without the devices: the parts of the inspector do not use them. */
export function withoutDevices() {
    const { name, rest, parameters } = current()
    parameters.delete('devices')
    return format(name, rest, parameters)
}

/** Puts devices into the address without a step in the history. @param {string} devices nothing if it is empty */
export function nameDevices(devices) {
    const { name, rest, parameters } = current()
    if (devices) parameters.set('devices', devices)
    else parameters.delete('devices')
    const hash = name || parameters.size ? format(name, rest, parameters) : ''
    if (hash !== location.hash) history.replaceState(null, '', hash || location.pathname)
}

/** @param {string} hash @param {boolean} [isReplacing] true if the former address is not kept in the history */
export function go(hash, isReplacing = false) {
    const url = new URL(location.href)
    url.hash = hash
    if (url.href === location.href) return
    if (isReplacing) history.replaceState(null, '', url)
    else history.pushState(null, '', url)
    changed.dispatchEvent(new Event('change'))
}

/** @param {string} text */
export function decoded(text) {
    try { return decodeURIComponent(text) } catch { return text }
}

function format(name, rest, parameters) {
    // Colons and commas may stand in a fragment, and the address is read by people.
    const query = parameters.toString().replaceAll('%3A', ':').replaceAll('%2C', ',')
    return `#/${[name, rest].filter(Boolean).join('/')}${query ? `?${query}` : ''}`
}
