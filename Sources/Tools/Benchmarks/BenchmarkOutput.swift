internal import ArgumentParser
internal import Dispatch
internal import Foundation
internal import SystemSupport

/// The life and the output of a command that measures.
enum BenchmarkOutput {
    /// Runs a measurement until it ends or a signal ends it.
    /// - Throws: `ExitCode` with 128 plus the signal's number if a signal ended the measurement.
    static func whileRunning(_ body: @escaping @Sendable () async throws -> Void) async throws {
        if BuildConfiguration.isDebug {
            try? await write(
                "segue: this is a debug build, so the figures are not meaningful; use 'make bench'\n",
                to: .standardError)
        }
        guard case .signal(let signal) = try await ShutdownSignals.run({ try await body() }) else { return }
        throw ExitCode(128 + signal)
    }

    /// A value as one line of JSON.
    static func line(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
    }

    /// Writes a text. The call runs on a Dispatch queue, because a stopped terminal or a full pipe must not block a
    /// thread of the cooperative pool.
    static func write(_ text: String, to file: FileHandle = .standardOutput) async throws {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try file.write(contentsOf: Data(text.utf8)) })
            }
        }
    }
}
