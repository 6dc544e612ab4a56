// @ts-check
// URLs that the app requests to open, such as a log-in page or a link into another app.

import { recall, remember } from '../memory.js'
import { asText, make } from './render.js'

/** Schemes that act on this page or on the reader's files. Others, such as `spotify:`, belong to apps. */
const refused = new Set([
    'javascript:', 'data:', 'blob:', 'file:', 'about:', 'vbscript:', 'filesystem:', 'view-source:', 'chrome:', 'ws:', 'wss:',
])
const rememberedRequests = 100

/**
 * Opens the URL of a request, once: a reload of the page does not open it again. If the browser refuses to open a
 * window, or the URL is for an app, `offer` gets a link.
 * @param {{url?: any, request?: any}} requested @param {(link: HTMLElement) => void} offer
 */
export function openRequested(requested, offer) {
    const url = URL.parse(asText(requested.url))
    if (!url || refused.has(url.protocol)) return
    const request = asText(requested.request).slice(0, 200)
    const opened = recall('session', 'opened') ?? []
    if (opened.includes(request)) return
    remember('session', 'opened', [...opened, request].slice(-rememberedRequests))
    if (!/^https?:$/.test(url.protocol) || !openWindow(url.href)) offer(link(url))
}

/** @returns {boolean} false if the browser has blocked the window */
function openWindow(href) {
    // With `noopener` the result does not say whether the window was blocked, so the opener is cut by hand.
    const opened = window.open('', '_blank')
    if (!opened) return false
    opened.opener = null
    opened.location.replace(href)
    return true
}

function link(url) {
    const name = /^https?:$/.test(url.protocol) ? url.host : url.protocol.slice(0, -1)
    return make('a', '', { href: url.href, target: '_blank', rel: 'noopener noreferrer' }, `Open ${name}`)
}
