package import Glibc

/// The processes of one session: a service's main process and its descendants, except those that have made their own
/// session.
///
/// This is a session and not a process group, because a shell with job control gives each of its children a group of
/// its own. The kernel does not reuse the session's number while a member is alive or the leader has not been reaped.
package struct ProcessSession: Sendable {
    let id: pid_t

    /// - Parameter id: the process id of the session's leader.
    package init(id: pid_t) {
        self.id = id
    }

    var members: [ProcessTable.Entry] {
        ProcessTable.entries(ofSession: id).filter(\.isAlive)
    }

    func send(_ signal: CInt) {
        for group in Set(members.map(\.group)) {
            Glibc.kill(-group, signal)
        }
    }

    /// Kills all members; returns when none is left.
    package func kill() async {
        await terminate(signal: .kill, grace: .zero)
    }

    /// Asks all members to end, waits for the grace period, then kills them; returns when none is left.
    ///
    /// If the task is cancelled, the members are killed at once.
    ///
    /// - Parameter urgent: returns when the rest of the grace period is to be skipped, or when its task is cancelled.
    func terminate(
        signal: StopSignal,
        grace: Duration,
        urgent: (@Sendable () async -> Void)? = nil
    ) async {
        send(signal.number)
        // Without SIGCONT, a suspended process would not handle the signal before it is killed. systemd.kill(5) does
        // the same.
        send(SIGCONT)
        await withTaskGroup { group in
            group.addTask { await waitUntilEmpty() }
            group.addTask { try? await Task.sleep(for: grace) }
            if let urgent { group.addTask { await urgent() } }
            await group.next()
            group.cancelAll()
        }
        // This is repeated while a member is left, because a member may have forked after /proc was read and before the
        // signal was sent.
        while case let left = members, !left.isEmpty {
            for group in Set(left.map(\.group)) { Glibc.kill(-group, SIGKILL) }
            await Self.waitForExit(of: left)
        }
    }

    /// Returns when the leader has ended, even if it is not reaped, or when the task is cancelled.
    package func waitForLeader() async {
        while !Task.isCancelled, let leader = ProcessTable.entry(of: id), leader.isAlive {
            await Self.waitForExit(of: [leader])
        }
    }

    /// Returns when no member is alive, or when the task is cancelled.
    private func waitUntilEmpty() async {
        while !Task.isCancelled, case let left = members, !left.isEmpty {
            await Self.waitForExit(of: left)
        }
    }

    private static func waitForExit(of members: [ProcessTable.Entry]) async {
        for member in members {
            if let handle = ProcessHandle(opening: member.pid) {
                await handle.waitForExit()
            } else if ProcessTable.entry(of: member.pid)?.isAlive == true {
                // Without pidfds, the member is checked again after 20 ms.
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
    }
}
