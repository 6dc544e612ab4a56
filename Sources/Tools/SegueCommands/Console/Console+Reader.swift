internal import Dispatch
internal import Glibc
internal import SystemPackage

extension Console {
    /// Runs `body` until it ends, or until nobody reads what is written here any more: in `segue monitor | head -1`,
    /// a monitor that has nothing to write would never notice.
    ///
    /// - Throws: `Errno.brokenPipe`, and what `body` throws.
    func whileRead(_ body: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.waitForBrokenPipe() }
            group.addTask { try await body() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Waits on a thread of its own, with poll(2): it reports a pipe without a reader unasked.
    ///
    /// Returns when the task is cancelled.
    /// - Throws: `Errno.brokenPipe`.
    func waitForBrokenPipe() async throws {
        let cancellation = try FileDescriptor.pipe()
        defer {
            try? cancellation.readEnd.close()
            try? cancellation.writeEnd.close()
        }
        let isBroken = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
                DispatchQueue(label: "console-reader").async { [descriptor] in
                    var watched = [
                        pollfd(fd: descriptor.rawValue, events: 0, revents: 0),
                        pollfd(fd: cancellation.readEnd.rawValue, events: Int16(POLLIN), revents: 0),
                    ]
                    while poll(&watched, nfds_t(watched.count), -1) < 0, errno == EINTR {}
                    continuation.resume(returning: watched[0].revents != 0)
                }
            }
        } onCancel: {
            _ = try? cancellation.writeEnd.writeAll([0])
        }
        if isBroken { throw Errno.brokenPipe }
    }
}
