import Foundation
import Logging
import Subprocess

extension ServiceRunner {
    /// Stands by a process from just after its start until the last of its session has ended.
    ///
    /// The leader is not reaped before this returns. So its number, which is that of the session too, cannot have been
    /// given to another process while the rest of the session is signalled.
    func attend(
        _ session: ProcessSession,
        output: [(LogLine.Stream, SubprocessOutputSequence)],
        socket: NotifySocket,
        deadline: ContinuousClock.Instant
    ) async -> RunCause {
        board.change(name) {
            $0.process = ProcessIdentity(of: session.id)
            $0.startedAt = Date()
            $0.wasReady = false
            $0.state = awaitsReadiness ? .starting : .running
            // What earlier runs have shown says nothing of this one.
            $0.health = probe.map { _ in ServiceHealth() }
            ($0.message, $0.fault, $0.pause) = (nil, nil, nil)
        }
        return await withTaskGroup(of: Void.self) { group in
            // Ends by itself at the end of the output, or of the leader: never cancelled, so that no line is lost.
            for (stream, output) in output { group.addTask { await copy(output, of: stream) } }
            let cause = await firstCause(session, socket: socket, deadline: deadline)
            if cause.reason != .leaderExited || !session.members.isEmpty {
                board.change(name) { ($0.state, $0.fault) = (.stopping, cause.fault?.description) }
            }
            if let fault = cause.fault {
                logger.error("ending a service", metadata: ["service": "\(name)", "because": "it \(fault)"])
            }
            await session.terminate(signal: cause.fault?.signal ?? service.stopSignal, grace: stopGrace) {
                _ = await board.first { $0.isUrgent(name) }
            }
            return cause
        }
    }

    private func firstCause(
        _ session: ProcessSession,
        socket: NotifySocket,
        deadline: ContinuousClock.Instant
    ) async -> RunCause {
        await withTaskGroup(of: RunCause.Reason?.self) { group in
            group.addTask {
                await session.waitForLeader()
                return .leaderExited
            }
            group.addTask {
                // Those who depend on this service stop first.
                _ = await board.first { $0.mayEnd(name) }
                return .stopRequested
            }
            group.addTask { await followNotifications(socket, deadline: deadline).map { .faulty($0) } }
            if let probe {
                group.addTask { await followHealth(probe).map { .faulty($0) } }
            }
            var reason: RunCause.Reason?
            while reason == nil, let next = await group.next() { reason = next }
            group.cancelAll()
            await group.waitForAll()
            // One that says that it is ready and ends at once has been ready all the same.
            while let message = socket.receive() { take(message) }
            return RunCause(reason: reason ?? .leaderExited, wasReady: board.view[name]?.wasReady ?? false)
        }
    }

    private func copy(_ output: SubprocessOutputSequence, of stream: LogLine.Stream) async {
        do {
            for try await buffer in output {
                await log.append(buffer.withUnsafeBytes { Array($0) }, to: stream)
            }
        } catch {
            logger.error("cannot read a service's output", metadata: ["service": "\(name)", "error": "\(error)"])
        }
        await log.endLine(of: stream)
    }
}
