import Foundation
import Support
import SystemSupport

/// The status of a project as its supervisor last wrote it.
package struct ProjectStatus: Sendable, Codable, Equatable {
    package enum Phase: String, Sendable, Codable {
        /// A requested service is not ready yet.
        case starting
        /// Every requested service has become ready or has ended. The phase stays `up` while a service is restarted
        /// later.
        case up
        case stopping
        case stopped
    }

    package let project: String
    package let supervisor: ProcessIdentity
    package internal(set) var bus: String
    /// The ports that were picked for the names in `x-ports`.
    package internal(set) var ports: [String: Int] = [:]
    package internal(set) var phase: Phase = .starting
    /// All instances of all services, in the order of the stack.
    package internal(set) var services: [InstanceStatus] = []

    /// True if the supervisor that wrote this status still runs.
    package var isSupervisorAlive: Bool { supervisor.isAlive }

    package subscript(instance: String) -> InstanceStatus? {
        services.first { $0.name == instance }
    }

    /// Reads the status file of a project.
    ///
    /// - Returns: nil if there is no status file, or if another version of segue wrote the status of a run
    ///   that is over.
    /// - Throws: ``ComposeError`` `status-unreadable`; `insecure-directory` if another user may have written the
    ///   status.
    package static func read(_ project: Project) throws(ComposeError) -> ProjectStatus? {
        // Without a supervisor there may be no current status.
        if let data = try project.runtimeFolder()?.contents(of: Project.runningStatusFile, limit: 64 << 20),
            let status = try? decoder.decode(ProjectStatus.self, from: data)
        {
            return status
        }
        guard FileManager.default.fileExists(atPath: project.statusPath) else { return nil }
        do {
            let data = try Data(contentsOf: URL(fileURLWithPath: project.statusPath))
            do {
                return try Self.decoder.decode(ProjectStatus.self, from: data)
            } catch {
                // Another version may have written the file. If that run is over, its status is no longer needed.
                guard try decoder.decode(Ending.self, from: data).isOver else { throw error }
                return nil
            }
        } catch {
            throw ComposeError(
                code: "status-unreadable",
                message: "\(project.statusPath) cannot be read, or is not a valid status file",
                recovery: "make it readable; if it is and no process of project '\(project.name)' runs, remove it"
            )
        }
    }

    /// The content of the status file.
    var text: Data {
        get throws { try Self.encoder.encode(self) }
    }

    /// The part of the status that is read from the file of another version.
    private struct Ending: Decodable {
        let phase: Phase
        let supervisor: ProcessIdentity

        var isOver: Bool { phase == .stopped && !supervisor.isAlive }
    }

    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return encoder
    }

    /// The instances with these names of services or instances; all if `names` is empty.
    ///
    /// - Parameter project: the project of this status. Its saved stack contains the services that were scaled to 0.
    /// - Throws: ``ComposeError`` `unknown-service`, `stack-file`.
    package func instances(named names: [String], of project: Project) throws(ComposeError) -> [InstanceStatus] {
        try check(names, areIn: try names.isEmpty ? [] : knownNames(of: project))
        return names.isEmpty ? services : services.filter { names.contains($0.service) || names.contains($0.name) }
    }

    /// The names of all services and of their existing instances.
    func knownNames(of project: Project) throws(ComposeError) -> Set<String> {
        let stack = try project.savedStack()
        return Set(services.flatMap { [$0.service, $0.name] }).union(stack?.services.map(\.name) ?? [])
    }

    func check(_ names: [String], areIn known: Set<String>) throws(ComposeError) {
        guard let unknown = names.first(where: { !known.contains($0) }) else { return }
        let recovery = Spelling.suggestion(for: unknown, among: known)
        throw ComposeError(
            code: "unknown-service", message: "project '\(project)' has no service '\(unknown)'",
            recovery: recovery ?? "the known names are \(known.sorted().joined(separator: ", "))")
    }

    /// The progress of a change. A change that starts an instance is complete when the instance has reached a
    /// milestone. A stop is complete when the instance has no process, and a removal when the instance is no longer in
    /// the status.
    package func outcome(of change: Change, until milestone: Milestone = .ready) -> ChangeOutcome {
        guard let instance = self[change.instance] else {
            return change.action == .remove
                ? .reached : .overtaken("'\(change.instance)' was removed by another request")
        }
        let isWanted = instance.order.isWanted
        switch change.action {
        case .stop, .remove:
            if isWanted { return .overtaken("'\(change.instance)' was started again by another request") }
            // A removal is complete only when the instance is no longer in the list.
            return instance.isActive || change.action == .remove ? .pending : .reached
        case .keep where !isWanted:
            return .reached
        case .start, .restart, .keep:
            if !isWanted { return .overtaken("'\(change.instance)' was stopped by another request") }
            if instance.round < change.round { return .pending }
            if let failure = instance.failure { return .failed(failure) }
            if milestone == .ready, instance.state == .exited, let error = instance.badEnding { return .failed(error) }
            return instance.hasReached(milestone) ? .reached : .pending
        }
    }
}

/// The progress of a requested change.
package enum ChangeOutcome: Sendable, Equatable {
    case pending
    case reached
    /// A later request contradicts the change. The string is the reason.
    case overtaken(String)
    case failed(ComposeError)
}
