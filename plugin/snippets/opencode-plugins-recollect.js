// Recollect for OpenCode: gives the model what is remembered, and remembers what is said.
// Every step hands JSON to `recollect hook` and never fails the session: an error is an empty answer.
import { spawn } from "node:child_process";

const PROGRAM = ["recollect", "hook"];
const HOST = ["--host", "opencode"];
const PATIENCE = 31000; // milliseconds; the hook ends by itself before

function hook(event, input) {
  return new Promise((resolve) => {
    const child = spawn(PROGRAM[0], [...PROGRAM.slice(1), event, ...HOST], { stdio: ["pipe", "pipe", "ignore"] });
    const timer = setTimeout(() => child.kill(), PATIENCE);
    let said = "";
    child.stdout.on("data", (piece) => (said += piece));
    child.on("error", () => resolve(""));
    child.on("close", () => {
      clearTimeout(timer);
      try {
        resolve(said ? (JSON.parse(said).context ?? "") : "");
      } catch {
        resolve("");
      }
    });
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(input));
  });
}

const words = (parts) =>
  (parts ?? [])
    .filter((part) => part.type === "text" && !part.synthetic)
    .map((part) => part.text)
    .join("\n");

export const Recollect = async ({ client, directory }) => {
  const context = new Map(); // session → what its model shall read next
  const about = (sessionID, more) => ({ session_id: sessionID, cwd: directory, ...more });
  const add = (sessionID, text) => {
    if (text) context.set(sessionID, [context.get(sessionID), text].filter(Boolean).join("\n"));
  };
  return {
    event: async ({ event }) => {
      const sessionID = event.properties?.sessionID ?? event.properties?.info?.id;
      if (!sessionID) return;
      if (event.type === "session.created") add(sessionID, await hook("session-start", about(sessionID)));
      if (event.type === "session.deleted") context.delete(sessionID);
      if (event.type === "session.idle") {
        const { data } = await client.session.messages({ path: { id: sessionID } });
        const last = (data ?? []).filter((message) => message.info.role === "assistant").pop();
        if (last) await hook("stop", about(sessionID, { last_assistant_message: words(last.parts) }));
      }
    },
    "chat.message": async ({ sessionID }, { parts }) => {
      add(sessionID, await hook("prompt", about(sessionID, { prompt: words(parts) })));
    },
    "tool.execute.after": async ({ tool, sessionID, callID, args }, { output }) => {
      await hook("tool", about(sessionID, { tool_name: tool, tool_use_id: callID, tool_input: args, tool_output: output }));
    },
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      if (context.has(sessionID)) system.push(context.get(sessionID));
    },
  };
};
