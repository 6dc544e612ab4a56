internal import Foundation
package import Subprocess
internal import Support
internal import SystemPackage

/// Graphviz, the program that lays out drawings.
package struct Graphviz: Sendable {
    private let program: Executable

    /// - Parameter program: Graphviz's program for hierarchies.
    package init(program: Executable = .name("dot")) {
        self.program = program
    }

    /// The maximum size of an SVG in bytes. A larger drawing is an error.
    private static let limit = 64 << 20

    /// Draws an SVG.
    /// - Parameter dot: The drawing in Graphviz's language.
    /// - Throws: ``GraphvizError``, or `CancellationError`.
    package func svg(_ dot: String) async throws -> String {
        try await run("-Tsvg", input: dot, limit: Self.limit)
    }

    /// What the program gets of this process's environment, which may have secrets.
    private static var environment: Environment {
        let own = ProcessInfo.processInfo.environment
        return .custom(["PATH": own["PATH"] ?? "", "HOME": own["HOME"] ?? "", "LC_ALL": "C.UTF-8"])
    }

    /// Runs the program. If the caller is cancelled, the program is killed.
    /// - Parameter limit: The maximum size of the output in bytes.
    func run(_ argument: String, input: String, limit: Int) async throws -> String {
        guard let file = InputFile(input) else {
            throw GraphvizError.failed("its input could not be written to a file")
        }
        defer { file.close() }
        do {
            let result = try await Subprocess.run(
                program, arguments: [argument], environment: Self.environment,
                input: .fileDescriptor(file.descriptor, closeAfterSpawningProcess: false),
                output: .string(limit: limit),
                error: .string(limit: 1 << 20))
            if result.terminationStatus.isSuccess { return result.standardOutput }
            throw GraphvizError.ended(result.terminationStatus, reason: result.standardError.firstLine.printable)
        } catch let error as SubprocessError where error.code == .executableNotFound {
            throw GraphvizError.notInstalled
        } catch let error as SubprocessError {
            // The program is killed if the caller is cancelled. Then any error may result.
            try Task.checkCancellation()
            throw GraphvizError.failed("\(error)".printable)
        }
    }
}

/// The reason why Graphviz did not draw.
package enum GraphvizError: Error, Hashable, CustomStringConvertible {
    case notInstalled
    /// The program has ended with an error.
    /// - Parameter reason: The first line that it has written about it.
    case ended(TerminationStatus, reason: String)
    /// The program could not be run, or its output was too large.
    case failed(String)
    /// The program did not end within the time limit.
    case tooSlow(Duration)
    /// The program's output is not a layout of the drawing.
    case unreadable(String)

    package var description: String {
        switch self {
        case .notInstalled:
            "Graphviz is not installed: there is no program 'dot'. Install it for a better drawing."
        case .ended(let status, reason: let reason):
            "Graphviz could not lay out the flow: \(reason.isEmpty ? "\(status)" : reason)"
        case .failed(let reason): "Graphviz could not lay out the flow: \(reason)"
        case .tooSlow(let limit): "Graphviz could not lay out the flow within \(limit.text)."
        case .unreadable(let reason): "Graphviz's layout is not readable: \(reason)."
        }
    }
}

/// A file without a name, from which a program reads its input.
///
/// It replaces a pipe: if a program ends before it has read its input, Subprocess ends this process, because it does not
/// close a pipe to which it could not write.
private struct InputFile {
    private let file: UnsafeMutablePointer<FILE>
    let descriptor: FileDescriptor

    /// - Returns: Nil if the file cannot be made or written.
    init?(_ text: String) {
        guard let file = tmpfile() else { return nil }
        self.file = file
        descriptor = FileDescriptor(rawValue: fileno(file))
        do {
            _ = fcntl(descriptor.rawValue, F_SETFD, FD_CLOEXEC)
            try descriptor.writeAll(text.utf8)
            try descriptor.seek(offset: 0, from: .start)
        } catch {
            close()
            return nil
        }
    }

    func close() { fclose(file) }
}
