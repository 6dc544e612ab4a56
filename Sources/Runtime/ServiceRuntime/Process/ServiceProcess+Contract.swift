internal import Contracts
internal import Foundation
internal import MessageSchema

extension ServiceProcess {
    /// What it receives and sends.
    /// - Parameter instance: the process that says so; none where only its executable is asked.
    /// - Throws: `SchemaError` when it cannot be told what a message carries.
    func contract(instance: String? = nil) throws -> Document.ServiceContract {
        Document.ServiceContract(
            name: name, version: version, instance: instance, receives: try receives.map { try $0.contract() },
            sends: try sends.map { try $0.contract() })
    }

    /// Answers `--contract`: JSON on standard output, and nothing else.
    func printContract() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            FileHandle.standardOutput.write(try encoder.encode(try contract()) + Data("\n".utf8))
        } catch {
            Self.report(["\(name): \(Self.line(about: error))"])
            throw ExitStatus.software.exitCode
        }
    }
}
