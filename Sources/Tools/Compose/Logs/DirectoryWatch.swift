import Glibc

/// Tells when something in a folder is written, made or moved there (inotify).
final class DirectoryWatch: Sendable {
    private let descriptor: CInt

    /// - Throws: ``ComposeError`` `watch`.
    init(path: String) throws(ComposeError) {
        descriptor = inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK))
        let mask = UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO)
        guard descriptor >= 0, inotify_add_watch(descriptor, path, mask) >= 0 else {
            let reason = String(cString: strerror(errno))
            throw ComposeError(code: "watch", message: "cannot watch \(path): \(reason)")
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Returns when something has happened since it last returned, or when the task is cancelled.
    func wait() async {
        await Readability.wait(for: descriptor)
        // What happened is found by looking; all that is told at once needs one look.
        var events = [UInt8](repeating: 0, count: 16384)
        while read(descriptor, &events, events.count) > 0 {}
    }
}
