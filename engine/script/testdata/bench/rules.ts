const deny: RegExp[] = [/\brm\s+-rf\b/];

export const denied = (command: string): boolean => deny.some((rule) => rule.test(command));
