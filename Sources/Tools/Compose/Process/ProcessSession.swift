package import Glibc

/// The processes of one session: a service's own and all that descend from it, unless they made a session themselves.
///
/// A session rather than a group, because a shell with job control gives each of its children a group of its own.
/// The number stays taken while any member lives or the leader is not reaped, so it cannot come to mean another one.
package struct ProcessSession: Sendable {
    let id: pid_t

    /// - Parameter id: the process that leads it.
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

    /// Asks all members to end, grants them the grace, then kills them; returns when none is left.
    ///
    /// There is no grace in a cancelled task.
    ///
    /// - Parameter urgent: returns when the rest of the grace is to be skipped, or when its task is cancelled.
    func terminate(
        signal: StopSignal,
        grace: Duration,
        urgent: (@Sendable () async -> Void)? = nil
    ) async {
        send(signal.number)
        // As systemd.kill(5): a process that stands still would not hear it before it is killed.
        send(SIGCONT)
        await withTaskGroup { group in
            group.addTask { await waitUntilEmpty() }
            group.addTask { try? await Task.sleep(for: grace) }
            if let urgent { group.addTask { await urgent() } }
            await group.next()
            group.cancelAll()
        }
        // Again as long as any is left: a member may have forked between the look into /proc and the signal.
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

    /// Returns when no member lives, or when the task is cancelled.
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
                // Only where the kernel has no pidfd: look again soon.
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
    }
}
