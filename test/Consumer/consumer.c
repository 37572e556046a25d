/* A host without C++: compiles a file for a chip through the C API, and prints
   what it has got. */

#include "PagedAttn/CAPI/PagedAttn.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print(PaSeverity severity, const char *text, void *userData) {
  ++*(int *)userData;
  printf("%s\n  severity %d\n", text, (int)severity);
}

static char *readFile(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  char *text = malloc(1 << 20);
  if (!file || !text)
    exit(2);
  *bytes = fread(text, 1, 1 << 20, file);
  fclose(file);
  return text;
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  size_t bytes = 0;
  char *text = readFile(argv[1], &bytes);
  int numDiagnostics = 0;
  PaCompilation *compilation = paCompile(
      text, bytes, argv[2], argc > 3 ? argv[3] : NULL, print, &numDiagnostics);
  free(text);
  if (!compilation) {
    printf("failed with %d diagnostics\n", numDiagnostics);
    return 1;
  }
  printf("%zu code objects\n", paCompilationGetNumObjects(compilation));
  for (size_t i = 0; i < paCompilationGetNumObjects(compilation); ++i) {
    const char *elf = paCompilationGetObject(compilation, i, &bytes);
    printf("%s: %.3s, %s, %s\n", paCompilationGetFile(compilation, i), elf + 1,
           bytes > 4096 ? "more than a page" : "short",
           strstr(paCompilationGetAssembly(compilation, i), "s_endpgm")
               ? "assembly"
               : "no assembly");
  }
  size_t end = paCompilationGetNumObjects(compilation);
  printf("behind the last: %d %d %d\n",
         paCompilationGetFile(compilation, end) != NULL,
         paCompilationGetObject(compilation, end, &bytes) != NULL,
         paCompilationGetAssembly(compilation, end) != NULL);
  printf("%s\n", paCompilationGetManifest(compilation));
  paCompilationDestroy(compilation);
  paCompilationDestroy(NULL);
  return 0;
}
