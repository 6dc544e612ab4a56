@preconcurrency internal import Dispatch
internal import Glibc

/// Tells when a file of a folder is written or made (inotify).
final class FileWatch: Sendable {
    private let descriptor: CInt

    /// - Throws: ``HistoryError`` if the folder cannot be watched.
    init(directory: String) throws {
        descriptor = inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK))
        guard descriptor >= 0, inotify_add_watch(descriptor, directory, UInt32(IN_MODIFY | IN_CREATE)) >= 0 else {
            throw HistoryError(path: directory, reason: String(cString: strerror(errno)))
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Returns when something has happened since it last returned, or when the task is cancelled.
    func wait() async {
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global())
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                source.setEventHandler { source.cancel() }
                source.setCancelHandler { continuation.resume() }
                source.activate()
            }
        } onCancel: {
            source.cancel()
        }
        // The handler holds the source, and the source the handler.
        source.setEventHandler(handler: nil)
        // What happened is found by looking; all that is told at once needs one look.
        var events = [UInt8](repeating: 0, count: 65536)
        while read(descriptor, &events, events.count) > 0 {}
    }
}
