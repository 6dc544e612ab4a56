package import Glibc

/// The processes of one session. If a tag is given, also the processes outside the session that have this tag, and
/// the descendants of all these processes that have no other tag.
///
/// This is a session and not a process group, because a shell with job control gives each of its children a group of
/// its own. The kernel does not reuse the session's number while a member is alive or the leader has not been reaped.
package struct ProcessSession: Sendable {
    /// Nil if the session is not known. Then only marked processes and their descendants are members.
    private let id: pid_t?
    private let tag: ProcessTag?

    /// - Parameter id: the process id of the session's leader.
    package init(id: pid_t) {
        self.init(id: id, tag: nil)
    }

    init(id: pid_t?, tag: ProcessTag?) {
        self.id = id
        self.tag = tag
    }

    /// The living members.
    var members: [ProcessTable.Entry] {
        get async {
            // Without a tag, only the session's processes are read in full.
            guard let tag else { return await ProcessCensus.shared.members(ofSession: id ?? 0) }
            let all = await ProcessCensus.shared.members()
            var found = all.filter { $0.entry.session == id || $0.tag == tag }.map(\.entry)
            // A process that has overwritten its environment (as setproctitle(3) does) is found by its parent. A
            // process with another tag belongs to another instance.
            var open = Set(found.map(\.pid))
            var known = open
            let children = Dictionary(grouping: all.filter { $0.tag == nil || $0.tag == tag }, by: \.entry.parent)
            while let parent = open.popFirst() {
                for child in children[parent] ?? [] where known.insert(child.entry.pid).inserted {
                    found.append(child.entry)
                    open.insert(child.entry.pid)
                }
            }
            return found
        }
    }

    /// Sends a signal to the process groups of the members in the session, and to each other member by a handle.
    private func send(_ signal: CInt, to members: [ProcessTable.Entry]) {
        for group in Set(members.filter { $0.session == id }.map(\.group)) {
            Glibc.kill(-group, signal)
        }
        for member in members where member.session != id {
            member.open()?.send(signal)
        }
    }

    /// Kills all members; returns when none is left.
    package func kill() async {
        await terminate(signal: .kill, grace: .zero)
    }

    /// Asks all members to end, waits at most for the grace period, then kills the rest; returns when none is left.
    ///
    /// If the task is cancelled, the members are killed at once.
    ///
    /// - Parameter urgent: returns when the rest of the grace period is to be skipped, or when its task is cancelled.
    func terminate(
        signal: StopSignal,
        grace: Duration,
        urgent: (@Sendable () async -> Void)? = nil
    ) async {
        let members = await members
        send(signal.number, to: members)
        // Without SIGCONT, a suspended process would not handle the signal before it is killed. systemd.kill(5) does
        // the same.
        send(SIGCONT, to: members)
        await withTaskGroup { group in
            group.addTask { await waitUntilEmpty() }
            group.addTask { try? await Task.sleep(for: grace) }
            if let urgent { group.addTask { await urgent() } }
            await group.next()
            group.cancelAll()
        }
        // This is repeated while a member is left, because a member may have forked after /proc was read and before the
        // signal was sent.
        while case let left = await self.members, !left.isEmpty {
            send(SIGKILL, to: left)
            await Self.waitForExit(of: left)
        }
    }

    /// Returns when the leader has ended, even if it is not reaped, or when the task is cancelled.
    package func waitForLeader() async {
        while !Task.isCancelled, let leader = id.flatMap(ProcessTable.entry), leader.isAlive {
            await Self.waitForExit(of: [leader])
        }
    }

    /// Returns when no member is alive, or when the task is cancelled.
    private func waitUntilEmpty() async {
        while !Task.isCancelled, case let left = await members, !left.isEmpty {
            await Self.waitForExit(of: left)
        }
    }

    private static func waitForExit(of members: [ProcessTable.Entry]) async {
        for member in members {
            if let handle = member.open() {
                await handle.waitForExit()
            } else if member.isStillAlive {
                // Without a handle, the member is checked again after 20 ms.
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
    }
}
