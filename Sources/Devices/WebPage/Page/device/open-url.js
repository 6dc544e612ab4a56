// URLs that the app requests to open, such as a log-in page.

import { h } from '../elements/dom.js'
import { recall, remember } from '../memory.js'

/** Schemes that act on this page or on files. Others, such as `spotify:`, belong to apps. */
const refused = ['javascript', 'data', 'blob', 'file', 'about', 'vbscript', 'filesystem', 'view-source', 'chrome', 'ws',
  'wss']
const rememberedRequests = 100

/** Opens a URL once, also after a reload. `offer` gets a link if the browser refuses, or the URL is for an app. */
export function openRequested({ url: text, request }, offer) {
  const url = URL.parse(text)
  const scheme = url?.protocol.slice(0, -1)
  const opened = recall('session', 'opened') ?? []
  if (!url || refused.includes(scheme) || opened.includes(request)) return
  remember('session', 'opened', [...opened, request].slice(-rememberedRequests))
  const isWeb = scheme === 'http' || scheme === 'https'
  if (isWeb && openWindow(url.href)) return
  offer(h('a', { href: url.href, target: '_blank', rel: 'noopener noreferrer' }, `Open ${isWeb ? url.host : scheme}`))
}

function openWindow(href) {
  // With `noopener` the result does not say whether the window was blocked, so the opener is cut by hand.
  const opened = window.open('', '_blank')
  if (!opened) return false
  opened.opener = null
  opened.location.replace(href)
  return true
}
