import Glibc

/// Watches a folder for files that are written, created or moved into it (inotify).
package final class DirectoryWatch: Sendable {
    private static let newFile = UInt32(IN_CREATE | IN_MOVED_TO)

    private let descriptor: CInt

    /// - Throws: ``SystemError``, for example if there is no such folder, or if too many folders are watched.
    package init(path: String) throws(SystemError) {
        descriptor = inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK))
        // `deinit` closes the descriptor also after this error. Closed twice, it could be that of another thread.
        guard descriptor >= 0, inotify_add_watch(descriptor, path, UInt32(IN_MODIFY) | Self.newFile) >= 0 else {
            throw SystemError(path)
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Returns when something has happened since the last call, or when the task is cancelled.
    ///
    /// - Returns: True if there may be new files.
    package func wait() async -> Bool {
        await DescriptorReadiness.waitForInput(descriptor)
        var hasNewFiles = false
        // The caller looks at the folder itself, so one return is enough for all events that are in the queue.
        var events = [UInt8](repeating: 0, count: 16384)
        while case let count = read(descriptor, &events, events.count), count > 0 {
            hasNewFiles = hasNewFiles || Self.tellsOfNewFile(events[..<count])
        }
        return hasNewFiles
    }

    /// True if an event is about a new file, or if the queue has overflowed, because then an event of a new file may be
    /// lost.
    private static func tellsOfNewFile(_ events: ArraySlice<UInt8>) -> Bool {
        events.withUnsafeBytes { bytes in
            var offset = 0
            while offset + MemoryLayout<inotify_event>.size <= bytes.count {
                let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                if event.mask & (newFile | UInt32(IN_Q_OVERFLOW)) != 0 { return true }
                offset += MemoryLayout<inotify_event>.size + Int(event.len)
            }
            return false
        }
    }
}
