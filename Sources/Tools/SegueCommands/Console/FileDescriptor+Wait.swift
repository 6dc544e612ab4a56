internal import Dispatch
internal import Glibc
internal import SystemPackage

extension FileDescriptor {
    /// Waits on a thread of its own, with poll(2), for one of these events, for an error or for the other side's going.
    ///
    /// - Returns: false when the task was cancelled first.
    func wait(for events: Int32) async throws -> Bool {
        let cancellation = try FileDescriptor.pipe()
        defer {
            try? cancellation.readEnd.close()
            try? cancellation.writeEnd.close()
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
                DispatchQueue(label: "descriptor-\(rawValue)").async {
                    var watched = [
                        pollfd(fd: rawValue, events: Int16(events), revents: 0),
                        pollfd(fd: cancellation.readEnd.rawValue, events: Int16(POLLIN), revents: 0),
                    ]
                    while poll(&watched, nfds_t(watched.count), -1) < 0, errno == EINTR {}
                    continuation.resume(returning: watched[0].revents != 0)
                }
            }
        } onCancel: {
            _ = try? cancellation.writeEnd.writeAll([0])
        }
    }
}
