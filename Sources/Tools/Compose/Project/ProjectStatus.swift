import Foundation

/// How a project is, as its supervisor last wrote it down.
package struct ProjectStatus: Sendable, Codable, Equatable {
    package enum Phase: String, Sendable, Codable {
        /// Not every service has reached the state that is waited for.
        case starting
        /// Every service runs, and is ready where that is expected.
        case up
        case stopping
        case stopped
    }

    package let project: String
    package let supervisor: ProcessIdentity
    package let bus: String
    /// Picked for the names in `x-ports`.
    package internal(set) var ports: [String: Int] = [:]
    package internal(set) var phase: Phase = .starting
    /// Every instance of every service.
    package internal(set) var services: [ServiceStatus] = []

    /// Whether the supervisor that wrote this runs.
    package var isSupervisorAlive: Bool { supervisor.isAlive }

    package subscript(instance: String) -> ServiceStatus? {
        services.first { $0.name == instance }
    }

    /// - Returns: `nil` when the project was never started here.
    /// - Throws: ``ComposeError`` `status-unreadable`.
    package static func read(_ project: Project) throws(ComposeError) -> ProjectStatus? {
        guard FileManager.default.fileExists(atPath: project.statusPath) else { return nil }
        do {
            let data = try Data(contentsOf: URL(fileURLWithPath: project.statusPath))
            do {
                return try Self.decoder.decode(ProjectStatus.self, from: data)
            } catch {
                // Another version wrote it. When it had brought all to an end, nothing of it is left to be known.
                guard try decoder.decode(Ending.self, from: data).isOver else { throw error }
                return nil
            }
        } catch {
            throw ComposeError(
                code: "status-unreadable",
                message: "\(project.statusPath) is not a supervisor's status",
                recovery: "remove it if no process of project '\(project.name)' runs"
            )
        }
    }

    /// Replaces the file at once, so that no reader ever sees half of it.
    func write(to project: Project) throws {
        try Self.encoder.encode(self).write(to: URL(fileURLWithPath: project.statusPath), options: .atomic)
    }

    /// What every version says of a run.
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
}
