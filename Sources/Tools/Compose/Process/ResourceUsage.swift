import Glibc
import Support

/// The resources that the processes of an instance use.
package struct ResourceUsage: Sendable, Equatable {
    /// The processor time that they and their ended children have used.
    package fileprivate(set) var time: Duration = .zero
    /// In bytes. Shared memory is divided by the number of processes that share it, if the kernel tells this number.
    package fileprivate(set) var memory = 0
    package fileprivate(set) var pids: Set<Int32> = []
}

extension Project {
    /// The resources that instances use, by their names. Instances without a process are left out.
    package func usage(of instances: [InstanceStatus]) async -> [String: ResourceUsage] {
        // Calls that wait for the table of processes share one reading.
        await withTaskGroup { group in
            for instance in instances {
                guard let process = instance.process else { continue }
                let tag = ProcessTag(project: self, service: instance.service, instance: instance.name)
                group.addTask {
                    let members = await ProcessSession(id: process.pid, tag: tag).members
                    guard !members.isEmpty else { return (instance.name, ResourceUsage?.none) }
                    return (instance.name, await Self.executor.run { Self.usage(of: members) })
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }

    /// The status of the project, see ``ProjectStatus/read(_:)``, read on a thread that may block.
    package func status() async throws -> ProjectStatus? {
        try await Self.executor.run { Result { try ProjectStatus.read(self) } }.get()
    }

    private static let executor = BlockingExecutor("usage")

    private static func usage(of processes: [ProcessTable.Entry]) -> ResourceUsage {
        let ticksPerSecond = Double(max(1, sysconf(CInt(_SC_CLK_TCK))))
        return processes.reduce(into: ResourceUsage()) { usage, process in
            usage.pids.insert(process.pid)
            usage.time += .seconds(Double(process.ticks) / ticksPerSecond)
            usage.memory = Int(SafeIntegers.limit(usage.memory + (ProcessTable.memory(of: process.pid) ?? 0)))
        }
    }
}
